internal import HTTPServerCore
internal import ToolkitSystem

/// The exchange with a client that uses HTTP without TLS on a port for TLS: its request, the
/// answer, and the bytes that it sends afterwards.
struct PlainExchange {
    private let redirects: Bool
    private var head: [UInt8] = []
    private var droppedBytes = 0
    /// Whether the answer was sent, or the bytes were found not to be HTTP.
    private(set) var hasEnded = false

    init(redirects: Bool) {
        self.redirects = redirects
    }

    /// Whether reading stops. Further bytes stay in the socket, which stops the client.
    var isFull: Bool { droppedBytes > ConnectionState.droppedLimit }

    /// Takes received bytes, and sends the answer when the head is complete.
    /// - Returns: `.done(0)` if the bytes are not HTTP.
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
        // The answer fits into the empty buffer of a new socket.
        _ = unsafe response.withUnsafeBytes { unsafe transport.send($0, more: false) }
        transport.shutdownWriting()
        return .wouldBlock
    }
}
