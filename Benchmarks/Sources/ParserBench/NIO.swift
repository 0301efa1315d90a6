import NIOCore
import NIOEmbedded
import NIOHTTP1

/// SwiftNIO's decoder in its usual place: in a channel's pipeline, before a handler that receives
/// the parts. The embedded channel does no I/O.
struct NIODecoder: Contender {
    private let channel = EmbeddedChannel()
    private let sink = Sink()
    private let buffers: [ByteBuffer]

    init(_ requests: [[UInt8]]) {
        buffers = requests.map { ByteBuffer(bytes: $0) }
        let decoder = ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes))
        let handlers: [any ChannelHandler] = [decoder, sink]
        do {
            try channel.pipeline.syncOperations.addHandlers(handlers)
        } catch {
            fatalError("cannot add the handlers to the pipeline: \(error)")
        }
    }

    mutating func parse(_ index: Int) -> Bool {
        let before = sink.messages
        channel.pipeline.fireChannelRead(buffers[index])
        return sink.messages == before + 1
    }
}

/// Counts complete messages and drops their parts.
private final class Sink: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    var messages = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { messages += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
