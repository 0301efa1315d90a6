internal import HTTPCodecs
internal import HTTPParser

/// The payload of a close frame: nothing, or a code and a reason.
///
/// RFC 6455, section 5.5.1.
public struct CloseFrame: Hashable, Sendable {
    /// The code; nil in an empty payload.
    public let code: CloseCode?
    /// The reason, which helps people to find a fault; at most 123 bytes of UTF-8.
    public let reason: String

    /// The longest reason, in bytes of UTF-8.
    public static var reasonLimit: Int { 123 }

    /// Creates the payload of a close frame.
    /// - Parameters:
    ///   - code: the code, which must be sendable, or nil for an empty payload.
    ///   - reason: the reason. Characters beyond 123 bytes are left out; without a code the whole
    ///     reason is.
    public init(_ code: CloseCode?, reason: String = "") {
        precondition(code?.isSendable ?? true, "a close code that must not go on the wire")
        self.code = code
        self.reason = code == nil ? "" : Self.shortened(reason)
    }

    /// Reads a payload.
    /// - Throws: `.invalidClosePayload` for a single byte or more than 125, `.invalidCloseCode`,
    ///   `.invalidText`.
    public init(payload: Span<UInt8>) throws(WebSocketError) {
        try Self.check(payload, isWhole: true)
        guard payload.count >= 2 else {
            (code, reason) = (nil, "")
            return
        }
        code = Self.code(of: payload)
        reason = unsafe payload.extracting(2...).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }

    /// The payload on the wire.
    public var payload: [UInt8] {
        guard let code = code?.rawValue else { return [] }
        return [UInt8(code >> 8), UInt8(code & 0xFF)] + reason.utf8
    }

    /// Refuses an invalid payload, or the beginning of one.
    static func check(_ payload: Span<UInt8>, isWhole: Bool) throws(WebSocketError) {
        guard payload.count <= 125, payload.count != 1 || !isWhole else {
            throw WebSocketError(.invalidClosePayload)
        }
        guard payload.count >= 2 else { return }
        guard code(of: payload).isSendable else { throw WebSocketError(.invalidCloseCode) }
        var text = UTF8Checker()
        guard text.take(payload.extracting(2...)), text.isComplete || !isWhole else {
            throw WebSocketError(.invalidText)
        }
    }

    private static func code(of payload: Span<UInt8>) -> CloseCode {
        CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    }

    private static func shortened(_ reason: String) -> String {
        guard reason.utf8.count > reasonLimit else { return reason }
        var shortened = ""
        for character in reason.unicodeScalars {
            guard shortened.utf8.count + UTF8.width(character) <= reasonLimit else { break }
            shortened.unicodeScalars.append(character)
        }
        return shortened
    }
}
