// SwiftNIO's HTTP/1 server without a framework, with the routes of BenchServer.
//
//   PeerNIO --port N --threads N --root DIR

import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix

/// The value after `name` on the command line.
func argument(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}

/// Answers on the event loop; a file is opened on NIO's thread pool and goes out by sendfile.
final class RouteHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let root: String
    private let fileIO: NonBlockingFileIO
    private var head: HTTPRequestHead?
    private var received = 0
    private var content: ByteBuffer?

    init(root: String, fileIO: NonBlockingFileIO) {
        self.root = root
        self.fileIO = fileIO
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            received = 0
            content = nil
        case .body(var buffer):
            received += buffer.readableBytes
            guard head?.uri != "/upload" else { return }
            if content == nil { content = buffer } else { content?.writeBuffer(&buffer) }
        case .end:
            guard let head else { return }
            respond(to: head, context: context)
        }
    }

    private func respond(to head: HTTPRequestHead, context: ChannelHandlerContext) {
        switch (head.method, head.uri) {
        case (.GET, "/"), (.GET, "/async"):
            send("Hello, world!", context: context, head: head)
        case (.GET, "/1k"), (.GET, "/100k"):
            sendFile(root + head.uri, context: context, head: head)
        case (.POST, "/upload"):
            send("\(received)", context: context, head: head)
        case (.POST, "/order"):
            answer(Order.self, context, head) { Receipt(id: $0.id, count: $0.items.count) }
        case (.POST, "/note"):
            answer(Note.self, context, head) { Receipt(id: $0.id, count: $0.text.utf8.count) }
        default:
            send("Not found", status: .notFound, context: context, head: head)
        }
    }

    private func answer<Value: Decodable>(
        _ type: Value.Type, _ context: ChannelHandlerContext, _ head: HTTPRequestHead,
        _ receipt: (Value) -> Receipt
    ) {
        guard let content, let value = try? JSONDecoder().decode(type, from: content),
            let bytes = try? JSONEncoder().encode(receipt(value))
        else { return send("Not JSON", status: .badRequest, context: context, head: head) }
        send(String(decoding: bytes, as: UTF8.self), context: context, head: head)
    }

    private func responseHead(
        _ status: HTTPResponseStatus, length: Int, to head: HTTPRequestHead
    ) -> HTTPResponseHead {
        var fields = HTTPHeaders()
        fields.add(name: "Content-Type", value: "text/plain; charset=utf-8")
        fields.add(name: "Content-Length", value: "\(length)")
        if !head.isKeepAlive { fields.add(name: "Connection", value: "close") }
        return HTTPResponseHead(version: head.version, status: status, headers: fields)
    }

    private func send(
        _ text: String, status: HTTPResponseStatus = .ok, context: ChannelHandlerContext,
        head: HTTPRequestHead
    ) {
        let response = responseHead(status, length: text.utf8.count, to: head)
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        let buffer = context.channel.allocator.buffer(string: text)
        context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
        finish(context: context, head: head)
    }

    private func finish(context: ChannelHandlerContext, head: HTTPRequestHead) {
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        guard !head.isKeepAlive else { return }
        end.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func sendFile(_ path: String, context: ChannelHandlerContext, head: HTTPRequestHead) {
        let opened = fileIO.openFile(_deprecatedPath: path, eventLoop: context.eventLoop)
        opened.assumeIsolated().whenComplete { result in
            guard case .success((let file, let region)) = result else {
                return self.send("Not found", status: .notFound, context: context, head: head)
            }
            let response = self.responseHead(.ok, length: region.readableBytes, to: head)
            context.write(self.wrapOutboundOut(.head(response)), promise: nil)
            context.write(self.wrapOutboundOut(.body(.fileRegion(region))))
                .assumeIsolated().whenComplete { _ in try? file.close() }
            self.finish(context: context, head: head)
        }
    }
}

let port = argument("--port").flatMap(Int.init) ?? 0
let threads = argument("--threads").flatMap(Int.init) ?? 1
let root = argument("--root") ?? "."
let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
let fileIO = NonBlockingFileIO(threadPool: .singleton)

let listener = try await ServerBootstrap(group: group)
    .serverChannelOption(.backlog, value: 4096)
    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
            let handler = RouteHandler(root: root, fileIO: fileIO)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
    }
    .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
    .bind(host: "127.0.0.1", port: port).get()
print(listener.localAddress?.port ?? port)
try await listener.closeFuture.get()
