import HTTPParser
import TestSupport
import Testing

@Suite("Limits: default values, and input at and above them")
struct LimitTests {
    private func failure(
        _ message: String, limits: ParserLimits = .standard
    ) -> HTTPParseError.Kind? {
        guard case .failure(let error) = WireSetup(limits: limits).events(Array(message.utf8)).last
        else { return nil }
        return error.kind
    }

    private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private func request(_ fields: String) -> String {
        "GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    private func chunked(_ content: String) -> String {
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(content)"
    }

    @Test("The default limits have the documented values")
    func defaults() {
        let limits = ParserLimits.standard
        #expect(limits.startLineBytes == 8_192)
        #expect(limits.fieldLineBytes == 8_192)
        #expect(limits.fieldSectionBytes == 65_536)
        #expect(limits.fieldCount == 128)
        #expect(limits.contentBytes == .max)
        #expect(limits.chunkExtensionBytes == 4_096)
        #expect(limits.trailerBytes == 8_192)
        #expect(limits.leadingEmptyLines == 8)
        #expect(ParserLimits() == limits)
    }

    @Test(
        "A request line above the limit is refused",
        arguments: [(-1, nil), (0, nil), (1, .requestLineTooLong)]
            as [(Int, HTTPParseError.Kind?)])
    func requestLine(excess: Int, kind: HTTPParseError.Kind?) {
        let target = "/" + text(8_192 + excess - 14)
        #expect(failure("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == kind)
    }

    @Test(
        "A field line above the limit is refused",
        arguments: [(-1, nil), (0, nil), (1, .fieldTooLong)] as [(Int, HTTPParseError.Kind?)])
    func fieldLine(excess: Int, kind: HTTPParseError.Kind?) {
        #expect(failure(request("A: \(text(8_192 + excess - 3))\r\n")) == kind)
        #expect(failure(request("\(text(8_192 + excess - 3)): a\r\n")) == kind)
    }

    @Test(
        "A field section above the limit is refused",
        arguments: [(-1, nil), (0, nil), (1, .fieldsTooLong)] as [(Int, HTTPParseError.Kind?)])
    func fieldSection(excess: Int, kind: HTTPParseError.Kind?) {
        // Sixteen lines of 4,096 bytes with their CRLFs; the first includes the Host line.
        let lines = String(repeating: "A: \(text(4_091))\r\n", count: 14)
        let first = "B: \(text(4_091 - 9))\r\n"
        #expect(failure(request(first + lines + "C: \(text(4_091 + excess))\r\n")) == kind)
    }

    @Test(
        "Numbers of fields up to the limit are accepted, also around 32, 64 and 96",
        arguments: [31, 32, 33, 63, 64, 65, 66, 95, 96, 97, 127, 128])
    func fieldCount(count: Int) {
        let fields = String(repeating: "A: b\r\n", count: count - 1)
        let events = WireSetup().events(Array(request(fields).utf8))
        guard case .request(let head) = events.first else {
            Issue.record("refused")
            return
        }
        #expect(head.fields.count == count)
        #expect(head.fields.last?.value == Array("b".utf8))
    }

    @Test("More fields than the limit are refused")
    func tooManyFields() {
        #expect(failure(request(String(repeating: "A: b\r\n", count: 128))) == .tooManyFields)
    }

    @Test("A limit of 1,000 fields accepts 1,000 and refuses 1,001")
    func manyFields() {
        var limits = ParserLimits()
        limits.fieldCount = 1_000
        let fields = String(repeating: "A: b\r\n", count: 999)
        #expect(failure(request(fields), limits: limits) == nil)
        #expect(failure(request(fields + "A: b\r\n"), limits: limits) == .tooManyFields)
    }

    @Test("Framing fields after the 32nd and the 64th field are recognised")
    func lateFramingFields() {
        for count in [31, 32, 33, 63, 64, 65, 100] {
            let before = String(repeating: "A: b\r\n", count: count)
            let late = "\(before)Content-Length: 5\r\n"
            let events = WireSetup().events(Array(request(late).utf8))
            guard case .request(let head) = events.first else {
                Issue.record("refused")
                return
            }
            #expect(head.traits.contains("length 5"))
            #expect(failure(request("\(before)Host: b\r\n")) == .repeatedHost)
        }
    }

    @Test(
        "Chunk extensions of one message above the limit are refused",
        arguments: [(-1, nil), (0, nil), (1, .chunkExtensionsTooLong)]
            as [(Int, HTTPParseError.Kind?)])
    func chunkExtensions(excess: Int, kind: HTTPParseError.Kind?) {
        let chunk = "1;\(text(2_047))\r\na\r\n"
        let last = "0;\(text(2_047 + excess))\r\n\r\n"
        #expect(failure(chunked(chunk + last)) == kind)
    }

    @Test(
        "A trailer section above the limit is refused",
        arguments: [(-1, nil), (0, nil), (1, .trailersTooLong)] as [(Int, HTTPParseError.Kind?)])
    func trailers(excess: Int, kind: HTTPParseError.Kind?) {
        let trailers = "A: \(text(4_091))\r\nB: \(text(4_091 + excess))\r\n"
        #expect(failure(chunked("0\r\n\(trailers)\r\n")) == kind)
    }

    @Test("Limits below zero refuse input, and the greatest limits do not trap")
    func absurdLimits() {
        var limits = ParserLimits()
        limits.startLineBytes = -1
        #expect(failure(request(""), limits: limits) == .requestLineTooLong)
        limits = ParserLimits()
        limits.fieldLineBytes = -1
        #expect(failure(request(""), limits: limits) == .fieldTooLong)
        limits = ParserLimits()
        limits.fieldCount = -1
        #expect(failure(request(""), limits: limits) == .tooManyFields)
        limits = ParserLimits()
        limits.contentBytes = -1
        #expect(failure(chunked("1\r\na"), limits: limits) == .contentTooLong)
        limits = ParserLimits()
        limits.startLineBytes = .max
        limits.fieldLineBytes = .max
        limits.fieldSectionBytes = .max
        limits.fieldCount = .max
        limits.trailerBytes = .max
        limits.chunkExtensionBytes = .max
        limits.leadingEmptyLines = .max
        #expect(failure("\r\n" + request("A: b\r\n"), limits: limits) == nil)
        #expect(failure(chunked("1;a\r\na\r\n0\r\nA: b\r\n\r\n"), limits: limits) == nil)
    }
}
