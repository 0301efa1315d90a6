import HTTPParser
import Testing

@testable import httpkit

@Suite("httpkit parse: events as lines")
struct EventPrinterTests {
    private func requests(_ text: String, by size: Int = .max) -> [String] {
        lines(MessageReader(RequestParser()), Array(text.utf8), by: size)
    }

    private func responses(_ text: String, by size: Int = .max) -> [String] {
        lines(MessageReader(ResponseParser()), Array(text.utf8), by: size)
    }

    private func lines<Parser: MessageParser & ~Copyable>(
        _ reader: consuming MessageReader<Parser>, _ bytes: [UInt8], by size: Int
    ) -> [String] {
        var printer = EventPrinter(reader)
        var output = ByteBuffer()
        var rest = bytes[...]
        var isClean = true
        while isClean, !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            isClean = printer.take(piece.span, into: &output)
            rest = rest.dropFirst(piece.count)
        }
        if isClean { _ = printer.finish(into: &output) }
        return latin1(output.bytes).split(separator: "\n").map(String.init)
    }

    @Test("A request with content and trailers has the events head, content and end")
    func request() {
        let lines = requests(
            "PUT /a HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nhi\r\n0\r\nT: \u{E9}\r\n\r\n")
        #expect(
            lines == [
                #"{"event":"head","method":"PUT","target":"/a","version":"1.1","fields":"#
                    + #"[["Host","b"],["Transfer-Encoding","chunked"]],"framing":"chunked","#
                    + #""keepAlive":true,"upgrade":false}"#,
                #"{"event":"content","bytes":"aGk="}"#,
                #"{"event":"end","trailers":[["T","\u00c3\u00a9"]]}"#,
            ])
    }

    @Test("Responses have the events interim, head, content, end and stop")
    func response() {
        let lines = responses("HTTP/1.1 103 E\r\nA: b\r\n\r\nHTTP/1.0 200 OK\r\n\r\nhi")
        #expect(
            lines == [
                #"{"event":"interim","status":103,"reason":"E","version":"1.1","#
                    + #""fields":[["A","b"]]}"#,
                #"{"event":"head","status":200,"reason":"OK","version":"1.0","fields":[],"#
                    + #""framing":"close","keepAlive":false,"upgrade":false}"#,
                #"{"event":"content","bytes":"aGk="}"#, #"{"event":"end","trailers":[]}"#,
                #"{"event":"stop","reason":"close"}"#,
            ])
    }

    @Test("Each piece of input after a stop becomes a rest event")
    func rest() {
        let text = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n"
        #expect(
            requests(text + "hi").suffix(2) == [
                #"{"event":"stop","reason":"tunnel"}"#, #"{"event":"rest","bytes":"aGk="}"#,
            ])
        #expect(
            requests(text + "hi", by: 1).suffix(3) == [
                #"{"event":"stop","reason":"tunnel"}"#, #"{"event":"rest","bytes":"aA=="}"#,
                #"{"event":"rest","bytes":"aQ=="}"#,
            ])
    }

    @Test("Bad input gives an error event with kind, offset and reason")
    func error() {
        #expect(
            requests("GET / HTTP/1.1\r\nHost : a\r\n\r\n") == [
                #"{"event":"error","kind":"whitespaceBeforeColon","offset":20,"#
                    + #""reason":"whitespace before colon"}"#
            ])
        #expect(
            requests("GET /") == [
                #"{"event":"error","kind":"truncated","offset":5,"reason":"truncated"}"#
            ])
    }

    @Test("Splitting the input does not change the events")
    func splits() {
        let text =
            "\r\nPOST / HTTP/1.1\r\nHost: a\r\nX: \u{E9}\r\nTransfer-Encoding: chunked\r\n\r\n"
            + "1\r\nx\r\n0\r\nT: \u{E9}\r\nU: v\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\r\n"
        let whole = requests(text)
        #expect(whole.count == 5)
        for size in 1...text.utf8.count { #expect(requests(text, by: size) == whole) }
    }

    @Test("RFC 9110, 5.5: Latin-1 is read correctly after much content")
    func longStream() {
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        let text =
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            + String(repeating: chunk, count: 160) + "0\r\nT: \u{E9}\r\n\r\n"
        let lines = requests(text, by: 64 << 10)
        #expect(lines.last == #"{"event":"end","trailers":[["T","\u00c3\u00a9"]]}"#)
    }
}
