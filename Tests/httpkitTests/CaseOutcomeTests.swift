import HTTPParser
import Testing

@testable import httpkit

@Suite("httpkit parse --batch: outcomes of cases")
struct CaseOutcomeTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let ok = "HTTP/1.1 200 OK\r\n"

    private func request(_ text: String, limits: BatchLimits = BatchLimits()) -> CaseOutcome {
        BatchCase(id: .null, kind: .request, bytes: Array(text.utf8), limits: limits).outcome()
    }

    private func response(_ text: String, to methods: HTTPMethod...) -> CaseOutcome {
        BatchCase(
            id: .null, kind: .response, bytes: Array(text.utf8), requestMethods: methods
        ).outcome()
    }

    @Test(
        "The end of the bytes is the end of the stream",
        arguments: [
            ("", CaseOutcome.Result.accept, 0), (get, .accept, 1), (get + get, .accept, 2),
            (get + "\r\n", .accept, 1), (get + "\r\n\r\n", .accept, 1),
            (get + "G", .incomplete, 1), ("\r\n", .accept, 0),
            ("GET / HTTP/1.1\r\nHost: a\r\n", .incomplete, 0),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab", .incomplete, 0),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                .incomplete, 0
            ),
            (get + "GET / HTTP/1.1\n", .reject, 1),
        ])
    func end(text: String, result: CaseOutcome.Result, messages: Int) {
        let outcome = request(text)
        #expect(outcome.result == result)
        #expect(outcome.messages.count == messages)
        #expect((outcome.error != nil) == (result == .reject))
        #expect(outcome.rest.isEmpty)
    }

    @Test(
        "RFC 9112, 6.3: One word names the framing of a request",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", FramingWord.none, ""),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", .length, ""),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi", .length, "hi"),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "1\r\nh\r\n1\r\ni\r\n0\r\n\r\n",
                .chunked, "hi"
            ),
            ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", .tunnel, ""),
        ])
    func requestFraming(text: String, framing: FramingWord, content: String) {
        let outcome = request(text)
        #expect(outcome.messages.map(\.head.framing) == [framing])
        #expect(outcome.messages.map(\.content) == [Array(content.utf8)])
    }

    @Test(
        "RFC 9112, 6.3: The framing of responses depends on the request",
        arguments: [
            (ok + "Content-Length: 2\r\n\r\nhi", HTTPMethod.get, FramingWord.length),
            (ok + "Content-Length: 0\r\n\r\n", .get, .length),
            (ok + "Content-Length: 0\r\n\r\n", .head, .none),
            (ok + "Content-Length: 2\r\n\r\n", .head, .none),
            (ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .get, .chunked),
            (ok + "\r\nhi", .get, .close), (ok + "\r\nhi", .connect, .tunnel),
            ("HTTP/1.1 304 \r\nContent-Length: 0\r\n\r\n", .get, .none),
            ("HTTP/1.1 204 \r\n\r\n", .get, .none),
        ])
    func responseFraming(text: String, method: HTTPMethod, framing: FramingWord) {
        let outcome = response(text, to: method)
        #expect(outcome.result == .accept)
        #expect(outcome.messages.map(\.head.framing) == [framing])
    }

    @Test("Request methods are matched with final responses in order")
    func order() {
        let outcome = response(
            "HTTP/1.1 103 Early\r\n\r\n" + Self.ok + "Content-Length: 2\r\n\r\n"
                + "HTTP/1.1 100 \r\n\r\nHTTP/1.1 102 \r\n\r\n" + Self.ok
                + "Content-Length: 2\r\n\r\nhi",
            to: .head, .get)
        #expect(outcome.messages.map(\.interim) == [[103], [100, 102]])
        #expect(outcome.messages.map(\.content) == [[], Array("hi".utf8)])
        #expect(response("HTTP/1.1 100 \r\n\r\n", to: .get).result == .incomplete)
        let surplus = response(Self.ok + "Content-Length: 0\r\n\r\n" + Self.ok, to: .get)
        #expect(surplus.error == HTTPParseError(.unexpectedResponse, at: 38))
        #expect(surplus.messages.count == 1)
    }

    @Test(
        "The bytes after a tunnel, an upgrade or a close are the rest",
        arguments: [
            ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", true, false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false, false),
            ("GET / HTTP/1.0\r\n\r\n", false, false),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: b\r\n\r\n", true, true),
        ])
    func rest(text: String, isPersistent: Bool, isUpgrade: Bool) {
        let outcome = request(text + "\u{1}rest")
        #expect(outcome.result == .accept)
        #expect(outcome.rest == Array("\u{1}rest".utf8))
        #expect(outcome.messages.first?.head.isPersistent == isPersistent)
        #expect(outcome.messages.first?.head.isUpgrade == isUpgrade)
    }

    @Test("101 ends HTTP and is a separate message")
    func switching() {
        let outcome = response("HTTP/1.1 101 \r\nConnection: upgrade\r\nUpgrade: b\r\n\r\nrest")
        #expect(outcome.messages.first?.head.isUpgrade == true)
        #expect(outcome.messages.first?.interim == [])
        #expect(outcome.rest == Array("rest".utf8))
    }

    @Test("RFC 9110, 5.5: Fields, trailers and reason are read as Latin-1, even if they are UTF-8")
    func latin1Text() {
        let wire: [UInt8] =
            Array("HTTP/1.1 200 ".utf8) + [0xE9] + Array("\r\nX-mIxed: \t".utf8)
            + [0xC3, 0xA9, 0x20, 0xE9] + Array(" \r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            + Array("1\r\nx\r\n0\r\nA: b\r\nT:\t ".utf8) + [0xE9]
            + Array(" \r\nU: ".utf8) + [0xC3, 0xA9] + Array("\r\nV:\r\n\r\n".utf8)
        // The second message shows that offsets stay correct after the lookup of the bytes.
        let outcome = BatchCase(
            id: .null, kind: .response, bytes: wire + wire + Array("\n".utf8)
        ).outcome()
        #expect(outcome.error == HTTPParseError(.bareLineFeed, at: 2 * wire.count))
        #expect(outcome.messages.count == 2)
        for message in outcome.messages {
            #expect(message.head.reason == "\u{E9}")
            #expect(
                message.head.fields.first
                    == ParsedField(name: "X-mIxed", value: "\u{C3}\u{A9} \u{E9}"))
            #expect(
                message.trailers == [
                    ParsedField(name: "A", value: "b"), ParsedField(name: "T", value: "\u{E9}"),
                    ParsedField(name: "U", value: "\u{C3}\u{A9}"),
                    ParsedField(name: "V", value: ""),
                ])
        }
    }

    @Test("Content without a line end at its end does not run into the next head")
    func contentBeforeReason() {
        let wire: [UInt8] =
            Array((Self.ok + "Content-Length: 2\r\n\r\nhiHTTP/1.1 200 ").utf8) + [0xE9, 0x20]
            + Array("x\r\n\r\n".utf8)
        let outcome = BatchCase(id: .null, kind: .response, bytes: wire).outcome()
        #expect(outcome.messages.map(\.head.reason) == ["OK", "\u{E9} x"])
    }

    @Test("Pipelined messages of many kilobytes are returned complete and in order")
    func pipeline() {
        let texts = (0..<3_000).map {
            "POST /\($0) HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n\($0 + 1_000)"
        }
        var limits = BatchLimits()
        limits.maxHeadBytes = 60
        limits.maxTargetBytes = 5
        let outcome = request(texts.joined(), limits: limits)
        #expect(outcome.result == .accept)
        let expected = (0..<3_000).map { Array("\($0 + 1_000)".utf8) }
        #expect(outcome.messages.map(\.content) == expected)
    }
}
