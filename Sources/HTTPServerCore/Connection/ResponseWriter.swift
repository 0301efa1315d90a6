public import HTTPParser
package import ToolkitSystem

/// A stream that could not be sent.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// The client closed the connection, or it failed, or it was too slow.
    case connectionLost
    /// More or less was written than the response announced.
    case wrongLength
}

/// Where the producer of a streamed response writes.
///
/// It may be used from any thread. Several tasks may write at once: each piece goes out whole, in
/// the order of the calls, and each task waits while the client is behind. A stream that is
/// compressed is cut into pieces of 16 KiB, between which those of others may come.
public struct ResponseWriter: Sendable {
    let exchange: Exchange
    /// Encodes the stream; `nil` when it is not encoded.
    var coder: (any StreamEncoding)?
    /// Is given what is written before it goes out.
    private var observer: (@Sendable ([UInt8]) -> Void)?

    init(exchange: Exchange) { self.exchange = exchange }

    /// Lets the loop's other connections take their turn. `Task.yield()` would take another thread.
    package func yieldTurn() async {
        await withCheckedContinuation { done in exchange.loop.execute { done.resume() } }
    }

    /// The same writer, with an observer of its pieces.
    /// - Parameter body: is given each piece before it is sent; it must not block.
    package func observed(_ body: @escaping @Sendable ([UInt8]) -> Void) -> ResponseWriter {
        var writer = self
        writer.observer = body
        return writer
    }

    /// Sends bytes; empty ones are nothing.
    ///
    /// It suspends while more than some 64 KiB wait for a slow client.
    /// - Throws: `ResponseWriterError`; it is of no use to write on after that.
    public func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        observer?(bytes)
        if let coder { return try await write(bytes, through: coder) }
        try await send(.bytes(bytes))
    }

    /// Sends part of a file, without passing it through the process where the system can do that. The
    /// connection is cut when the file is shorter.
    ///
    /// It suspends while more than 2 MiB of files wait for a slow client.
    /// - Throws: `ResponseWriterError`; it is of no use to write on after that.
    package func write(_ file: OpenFile, offset: Int64, count: Int64) async throws {
        guard count > 0 else { return }
        guard coder == nil, observer == nil else {
            return try await writePieces(of: file, offset, count)
        }
        try await send(.file(file, offset: offset, count: count))
    }

    private func send(_ piece: ResponseBody.Piece) async throws {
        try await withCheckedThrowingContinuation { continuation in
            if exchange.loop.isFree { return exchange.send(piece, continuation) }
            exchange.loop.execute { [exchange] in exchange.send(piece, continuation) }
        }
    }

    /// The same for bytes that have to be seen.
    private func writePieces(of file: OpenFile, _ offset: Int64, _ count: Int64) async throws {
        var position = offset
        while position < offset + count {
            let (start, room) = (position, Int(min(offset + count - position, 256 << 10)))
            let bytes = try await BlockingPool.files.runUnlessCancelled {
                try file.content(at: start, count: room)
            }
            guard !bytes.isEmpty else { throw ResponseWriterError.wrongLength }
            try await write(bytes)
            position += Int64(bytes.count)
        }
    }

    /// Sends a text as UTF-8.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Says which fields follow the content; they are sent with chunked content only. With fields
    /// that must not go on the wire the stream fails at its end: the connection is cut, and the
    /// log says why.
    public func setTrailers(_ trailers: HTTPFields) async {
        await withCheckedContinuation { continuation in
            exchange.loop.execute { [exchange] in
                exchange.setTrailers(trailers)
                continuation.resume()
            }
        }
    }
}
