public import HTTPParser
package import ToolkitSystem

/// Why a stream could not be sent.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// The client closed the connection or was too slow, or the connection failed.
    case connectionLost
    /// More or less was written than the response announced.
    case wrongLength
}

/// Where the producer of a streamed response writes.
///
/// It may be used from any thread. If several tasks write, each piece is sent whole, in the order
/// of the calls, and each task waits while the client reads too slowly. A compressed stream is cut
/// into pieces of 16 KiB, between which pieces of other tasks may be sent.
public struct ResponseWriter: Sendable {
    let exchange: Exchange
    /// Encodes the stream; `nil` when it is not encoded.
    var coder: (any StreamEncoding)?
    /// Gets each piece before it is sent.
    private var observer: (@Sendable ([UInt8]) -> Void)?

    init(exchange: Exchange) { self.exchange = exchange }

    /// Lets the loop serve other connections. `Task.yield()` would use another thread.
    package func yieldTurn() async {
        await withCheckedContinuation { done in exchange.loop.execute { done.resume() } }
    }

    /// The same writer, with an observer of its pieces.
    /// - Parameter body: gets each piece before it is sent; it must not block.
    package func observed(_ body: @escaping @Sendable ([UInt8]) -> Void) -> ResponseWriter {
        var writer = self
        writer.observer = body
        return writer
    }

    /// Sends bytes; an empty array is ignored.
    ///
    /// It suspends while more than about 64 KiB wait for a slow client.
    /// - Throws: `ResponseWriterError`; the response has failed then, so stop writing.
    public func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        observer?(bytes)
        if let coder { return try await write(bytes, through: coder) }
        try await send(.bytes(bytes))
    }

    /// Sends part of a file, without passing it through the process if the system can do that. The
    /// connection is closed if the file is shorter.
    ///
    /// It suspends while more than 2 MiB of files wait for a slow client.
    /// - Throws: `ResponseWriterError`; the response has failed then, so stop writing.
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

    /// Reads the file into memory for a coder or an observer, and sends it in pieces.
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

    /// Sets the fields that follow the content; they are sent with chunked content only. With
    /// invalid fields the stream fails at its end: the connection is closed, and the error is
    /// logged.
    public func setTrailers(_ trailers: HTTPFields) async {
        await withCheckedContinuation { continuation in
            exchange.loop.execute { [exchange] in
                exchange.setTrailers(trailers)
                continuation.resume()
            }
        }
    }
}
