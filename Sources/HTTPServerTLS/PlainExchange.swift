internal import HTTPServerCore
internal import ToolkitSystem

/// A client of HTTP without TLS on a port for TLS: its request, the answer, and what it sends behind.
struct PlainExchange {
    private let redirects: Bool
    private var head: [UInt8] = []
    private var droppedBytes = 0
    /// Whether the client has got all that it gets.
    private(set) var hasEnded = false

    init(redirects: Bool) {
        self.redirects = redirects
    }

    /// Whether no more is read: the rest stays in the socket, which stops the client.
    var isFull: Bool { droppedBytes > ConnectionState.droppedLimit }

    /// Takes bytes, and sends the answer once the head is complete.
    /// - Returns: `.done(0)` for what is no HTTP.
    mutating func receive(_ bytes: [UInt8], from transport: any Transport) -> IOResult {
        guard !hasEnded else {
            // Closing before the client has ended would answer its content with a reset, which can
            // destroy the response. The head deadline of the connection ends the wait.
            droppedBytes += bytes.count
            return .wouldBlock
        }
        head += bytes
        guard let response = PlainRequestAnswer(redirects: redirects).answer(to: head) else {
            return .wouldBlock
        }
        hasEnded = true
        head = []
        guard !response.isEmpty else { return .done(0) }
        // It fits into the empty buffer of a new socket.
        _ = unsafe response.withUnsafeBytes { unsafe transport.send($0, more: false) }
        transport.shutdownWriting()
        return .wouldBlock
    }
}
