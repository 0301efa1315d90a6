import HTTPParser
import Testing
import WebSocketFrames

@Suite("RFC 6455 section 5.5.1: close frames; section 7.4: close codes")
struct CloseFrameTests {
    @Test("registered codes and codes from 3000 to 4999 may be sent, others not")
    func codes() {
        let sendable = (0...65_535).filter { CloseCode(rawValue: UInt16($0)).isSendable }
        #expect(sendable == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
    }

    @Test(
        "a written payload is read with the same code and reason",
        arguments: [
            (CloseCode.normal, ""), (.goingAway, "bye"), (CloseCode(rawValue: 4999), "Grüße"),
            (.internalError, String(repeating: "x", count: 123)),
        ])
    func roundTrip(code: CloseCode, reason: String) throws {
        let payload = CloseFrame(code, reason: reason).payload
        let frame = try CloseFrame(payload: payload.span)
        #expect(frame.code == code)
        #expect(frame.reason == reason)
    }

    @Test("an empty payload has no code, and a reason needs a code")
    func empty() throws {
        #expect(CloseFrame(nil, reason: "lost").payload.isEmpty)
        let frame = try CloseFrame(payload: Span())
        #expect(frame.code == nil)
    }

    @Test("section 7.4.1 and the registry: constants have their codes; three must not be sent")
    func registeredCodes() {
        let sendable: [CloseCode] = [
            .normal, .goingAway, .protocolError, .unsupportedData, .invalidPayload,
            .policyViolation, .messageTooBig, .mandatoryExtension, .internalError, .serviceRestart,
            .tryAgainLater, .badGateway,
        ]
        #expect(sendable.map(\.rawValue) == [1000, 1001, 1002, 1003] + Array(1007...1014))
        #expect(sendable.allSatisfy { $0.isSendable })
        let others: [CloseCode] = [.noStatus, .abnormal, .tlsHandshake]
        #expect(others.map(\.rawValue) == [1005, 1006, 1015])
        #expect(!others.contains { $0.isSendable })
    }

    @Test("a long reason is cut between characters", arguments: 118...126)
    func shortens(count: Int) {
        let reason = String(repeating: "a", count: count) + "🌍"
        let payload = CloseFrame(.normal, reason: reason).payload
        let expected = count <= 119 ? count + 4 : min(count, 123)
        #expect(payload.count == 2 + expected)
        #expect(String(validating: payload.dropFirst(2), as: UTF8.self) != nil)
    }

    @Test(
        "an invalid payload is refused",
        arguments: [
            ([0x03], WebSocketError.Kind.invalidClosePayload), ([0x03, 0xEC], .invalidCloseCode),
            ([0x03, 0xE8, 0xFF], .invalidText), ([0x03, 0xE8, 0xC3], .invalidText),
            ([0x03, 0xE8] + [UInt8](repeating: 0x41, count: 124), .invalidClosePayload),
        ])
    func refuses(payload: [UInt8], kind: WebSocketError.Kind) {
        #expect(throws: WebSocketError(kind)) { try CloseFrame(payload: payload.span) }
    }
}
