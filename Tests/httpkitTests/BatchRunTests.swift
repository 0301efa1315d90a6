import HTTPParser
import Testing

@testable import httpkit

@Suite("httpkit parse --batch: input lines and output lines")
struct BatchRunTests {
    /// The output lines for the input `text` in pieces of at most `size` bytes.
    private func run(
        _ text: String, by size: Int = .max, kind: BatchCase.Kind = .request
    ) throws -> (lines: [String], faults: Int) {
        var batch = BatchRun(defaultKind: kind)
        var output = ""
        let flush: BatchRun.Flush = { buffer in
            output += latin1(buffer.bytes)
            buffer.removeAll()
        }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            try batch.take(piece.span, flush: flush)
            rest = rest.dropFirst(piece.count)
        }
        try batch.finish(flush)
        return (output.split(separator: "\n").map(String.init), batch.faults)
    }

    /// "GET / HTTP/1.1", "Host: a".
    private static let get = "R0VUIC8gSFRUUC8xLjENCkhvc3Q6IGENCg0K"

    @Test("The members of an outcome have the documented order")
    func shape() throws {
        let request = try run(#"{"id":"a","kind":"request","bytes":"\#(Self.get)"}"#)
        #expect(
            request.lines == [
                #"{"id":"a","result":"accept","messages":[{"method":"GET","target":"/","#
                    + #""version":"1.1","fields":[["Host","a"]],"framing":"none","content":"","#
                    + #""trailers":[],"keepAlive":true,"upgrade":false}],"rest":"","error":null}"#
            ])
        // "HTTP/1.1 200 OK", "Connection: close", "hi".
        let response = try run(
            #"{"id":7,"kind":"response","bytes":"#
                + #""SFRUUC8xLjEgMjAwIE9LDQpDb25uZWN0aW9uOiBjbG9zZQ0KDQpoaQ=="}"#)
        #expect(
            response.lines == [
                #"{"id":7,"result":"accept","messages":[{"status":200,"reason":"OK","interim":[],"#
                    + #""version":"1.1","fields":[["Connection","close"]],"framing":"close","#
                    + #""content":"aGk=","trailers":[],"keepAlive":false,"upgrade":false}],"#
                    + #""rest":"","error":null}"#
            ])
        // "G\n".
        let refused = try run(#"{"id":null,"kind":"request","bytes":"Rwo="}"#)
        #expect(
            refused.lines == [
                #"{"id":null,"result":"reject","messages":[],"rest":"","#
                    + #""error":{"kind":"bareLineFeed","offset":1,"status":400}}"#
            ])
    }

    @Test("The output does not depend on splits, empty lines, CRLF or a missing last LF")
    func splits() throws {
        let text = """
            {"id":1,"kind":"request","bytes":"\(Self.get)"}\r

            nonsense
            {"bytes":"","kind":"response","id":2,"limits":{"maxFields":1},"more":[{}]}
            """
        let whole = try run(text)
        #expect(whole.lines.count == 3)
        for size in [1, 2, 7, 64] {
            let split = try run(text, by: size)
            #expect(split.lines == whole.lines)
            #expect(split.faults == 1)
        }
    }

    @Test(
        "A line that is no case gets an error in its place, with identifier and line number",
        arguments: [
            ("[1]", "null", "not a JSON object"), ("{", "null", "not JSON"),
            ("{} {}", "null", "not JSON"),
            (#"{"id":2,"kind":"request"}"#, "2", "bytes is missing"),
            (
                #"{"id":"x","kind":"reply","bytes":""}"#, #""x""#,
                "kind is neither request nor response"
            ),
            (#"{"id":"x","kind":1,"bytes":""}"#, #""x""#, "kind has the wrong type"),
            (#"{"id":1,"bytes":"Zg="}"#, "1", "bytes is not base64"),
            (
                #"{"id":1,"bytes":"","requestMethods":["a b"]}"#, "1",
                "requestMethods contains an invalid method"
            ),
            (
                #"{"id":1,"bytes":"","limits":{"maxFields":-1}}"#, "1",
                "limits has a negative number"
            ),
            (
                #"{"id":1,"bytes":"","limits":{"maxFields":"1"}}"#, "1",
                "limits.maxFields has the wrong type"
            ),
            (
                #"{"id":1,"bytes":"","limits":{"maxFields":1.5}}"#, "1",
                "a member has no valid value"
            ),
            (#"{"bytes":"","limits":{"maxFields":1e30}}"#, "null", "a member has no valid value"),
            (#"{"id":[],"bytes":""}"#, "null", "id has the wrong type"),
        ])
    func faults(line: String, id: String, reason: String) throws {
        let good = #"{"id":0,"kind":"request","bytes":""}"#
        let outcome = try run("\(good)\n\n\(line)\n\(good)\n")
        let expected =
            #"{"id":\#(id),"result":"error","messages":[],"rest":"","#
            + #""error":{"kind":"invalidCase","line":3,"reason":"\#(reason)"}}"#
        #expect(outcome.lines.count == 3)
        #expect(outcome.lines.dropFirst().first == expected)
        #expect(outcome.faults == 1)
    }

    @Test(
        "Identifiers are returned unchanged",
        arguments: [
            "null", "0", "-9223372036854775808", "18446744073709551615", "1.5", #""""#,
            #""a\"\\\u00e9\ud83d\ude00""#,
        ])
    func identifiers(id: String) throws {
        let outcome = try run(#"{"id":\#(id),"kind":"request","bytes":""}"#)
        #expect(outcome.lines.first?.hasPrefix(#"{"id":\#(id),"result":"accept""#) == true)
    }

    @Test("Without a kind, the kind of the command is used; an identifier is optional")
    func defaults() throws {
        // "HTTP/1.1 204 ".
        let line = #"{"bytes":"SFRUUC8xLjEgMjA0IA0KDQo="}"#
        #expect(try run(line, kind: .response).lines.first?.contains("accept") == true)
        #expect(try run(line, kind: .request).lines.first?.contains("reject") == true)
    }

    @Test("Known outcomes are flushed before more input is read")
    func flushing() throws {
        var batch = BatchRun()
        var answered = 0
        let line = Array((#"{"id":1,"kind":"request","bytes":""}"# + "\n").utf8)
        try batch.take(line.span) { buffer in
            answered += buffer.count
            buffer.removeAll()
        }
        #expect(answered > 0)
    }
}
