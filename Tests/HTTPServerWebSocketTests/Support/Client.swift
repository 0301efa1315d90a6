import HTTPServerCore
import TestSupport

/// A WebSocket client over a connection in memory. It opens the WebSocket, sends frames, and waits
/// for the server's frames.
struct Client {
    let connection: MemoryConnection

    init(_ handler: some Handler, fields: String = "", host: String = "test") {
        connection = MemoryConnection(handler)
        connection.send(
            "GET /socket HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                + fields + "\r\n")
    }

    /// A masked frame of the client. The mask is zero, which leaves the payload unchanged.
    static func maskedFrame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        precondition(payload.count < 126)
        return [(isFinal ? 0x80 : 0) | opcode, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload
    }

    func send(_ opcode: UInt8, _ text: String, isFinal: Bool = true) {
        connection.feed([.bytes(Self.maskedFrame(opcode, Array(text.utf8), isFinal: isFinal))])
    }

    func close(_ code: UInt16) {
        connection.feed([.bytes(Self.maskedFrame(8, [UInt8(code >> 8), UInt8(code & 0xFF)]))])
    }

    /// The server's frames: all bytes after the head of the response.
    static func frames(_ record: MemoryRecord) -> [UInt8] {
        let end = Array("\r\n\r\n".utf8)
        guard let range = record.output.firstRange(of: end) else { return [] }
        return Array(record.output[range.upperBound...])
    }

    /// Waits until the server has sent `frames`; without frames, until the connection is closed.
    @discardableResult
    func output(_ frames: [UInt8]) async throws -> MemoryRecord {
        try await connection.wait(for: "frames \(frames)") {
            Self.frames($0).firstRange(of: frames) != nil || (frames.isEmpty && $0.isClosed)
        }
    }
}

/// An unmasked frame of the server.
func serverFrame(_ opcode: UInt8, _ text: String) -> [UInt8] {
    [0x80 | opcode, UInt8(text.utf8.count)] + Array(text.utf8)
}

/// An unmasked close frame of the server.
func closeFrame(_ code: UInt16) -> [UInt8] {
    [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)]
}
