import HTTPParser
import Testing

@testable import httpkit

@Suite("httpkit parse --batch: messages at a limit and above it")
struct BatchLimitsTests {
    private func outcome(
        _ text: String, _ set: (inout BatchLimits) -> Void
    ) -> CaseOutcome {
        var limits = BatchLimits()
        set(&limits)
        return BatchCase(
            id: .null, kind: .request, bytes: Array(text.utf8), limits: limits
        ).outcome()
    }

    private func post(_ fields: String, _ content: String) -> String {
        "POST /abcd HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(content)"
    }

    @Test(
        "A message at its limit passes, and one above it is refused, also as the second message",
        arguments: [
            ("maxFields", 2, HTTPParseError.Kind.tooManyFields, 431),
            ("maxHeadBytes", 51, .fieldsTooLong, 431),
            ("maxTargetBytes", 5, .requestLineTooLong, 414),
            ("maxContentBytes", 3, .contentTooLong, 413),
        ])
    func limit(name: String, value: Int, kind: HTTPParseError.Kind, status: UInt16) {
        let message = post("Content-Length: 3\r\n", "abc")
        let set = { (limits: inout BatchLimits, value: Int) in
            switch name {
            case "maxFields": limits.maxFields = value
            case "maxHeadBytes": limits.maxHeadBytes = value
            case "maxTargetBytes": limits.maxTargetBytes = value
            default: limits.maxContentBytes = Int64(value)
            }
        }
        let passing = outcome(message + message) { set(&$0, value) }
        #expect(passing.result == .accept)
        #expect(passing.messages.count == 2)
        let short = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let refused = outcome(short + message) { set(&$0, value - 1) }
        #expect(refused.messages.count == 1)
        #expect(refused.error?.kind == kind)
        #expect(refused.error?.suggestedStatus.code == status)
        #expect((refused.error?.offset ?? 0) >= short.utf8.count)
    }

    @Test("RFC 9112, 7.1: Trailers and chunk extensions have separate limits")
    func chunked() {
        let message = post(
            "Transfer-Encoding: chunked\r\n", "1;a=bcd\r\nx\r\n0\r\nA: b\r\n\r\n")
        #expect(outcome(message) { $0.maxChunkLineBytes = 6 }.result == .accept)
        #expect(
            outcome(message) { $0.maxChunkLineBytes = 5 }.error?.kind == .chunkExtensionsTooLong)
        #expect(outcome(message) { $0.maxTrailerBytes = 8 }.result == .accept)
        #expect(outcome(message) { $0.maxTrailerBytes = 3 }.error?.kind == .trailersTooLong)
    }

    @Test("A limit above the default replaces the default")
    func raised() {
        let long = String(repeating: "a", count: 20_000)
        let target = "GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(outcome(target) { _ in }.error?.kind == .requestLineTooLong)
        #expect(outcome(target) { $0.maxTargetBytes = 20_001 }.result == .accept)
        #expect(
            outcome(target) { $0.maxTargetBytes = 20_000 }.error
                == HTTPParseError(.requestLineTooLong, at: 20_004))
        let field = post("X: \(long)\r\n", "")
        #expect(outcome(field) { _ in }.error?.kind == .fieldTooLong)
        #expect(outcome(field) { $0.maxHeadBytes = field.utf8.count }.result == .accept)
        #expect(outcome(field) { $0.maxTargetBytes = .max }.error?.kind == .fieldTooLong)
        #expect(outcome(target) { $0.maxTargetBytes = .max }.result == .accept)
        #expect(outcome(field) { $0.maxHeadBytes = .max }.result == .accept)
    }

    @Test("An unfinished head above its limit is refused, and not incomplete")
    func unfinished() {
        let text = "GET /abcd HTTP/1.1\r\nHost: a"
        #expect(outcome(text) { $0.maxHeadBytes = text.utf8.count }.result == .incomplete)
        #expect(outcome(text) { $0.maxHeadBytes = text.utf8.count - 1 }.result == .reject)
        #expect(outcome("GET /abcd") { $0.maxTargetBytes = 4 }.result == .reject)
        #expect(outcome("GET /abcd") { $0.maxTargetBytes = 5 }.result == .incomplete)
    }

    @Test("The head limit applies to responses, and the target limit does not")
    func response() {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        var batchCase = BatchCase(id: .null, kind: .response, bytes: bytes)
        batchCase.limits.maxTargetBytes = 0
        batchCase.limits.maxHeadBytes = bytes.count
        #expect(batchCase.outcome().result == .accept)
        batchCase.limits.maxHeadBytes = bytes.count - 1
        #expect(
            batchCase.outcome().error == HTTPParseError(.fieldsTooLong, at: bytes.count - 1))
    }
}
