import HTTPParser
import Testing

/// These tests overwrite bytes that the parser has read with NUL before the next call. A parser
/// that reads them again would report an error.
@Suite("RFC 9112, 2.2: Bytes are read only once")
struct IncrementalWorkTests {
    @Test("Complete lines are not read again", arguments: ["", "A: b\r\n", "A:\tb \r\n"])
    func completeLines(fields: String) throws {
        let lines = "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: fields, count: 40)
        let open = Array("X: unfinished".utf8)
        var bytes = Array(lines.utf8) + open
        var parser = HeadParser(.request)
        #expect(try parser.parse(bytes.span) == nil)
        let count = parser.fieldCount
        for place in 0..<lines.utf8.count { bytes[place] = 0 }
        bytes += Array(" and now it is\r\n".utf8)
        #expect(try parser.parse(bytes.span) == nil)
        #expect(parser.fieldCount == count + 1)
        bytes += [13, 10]
        #expect(try parser.parse(bytes.span) == bytes.count)
    }

    @Test(
        "The beginning of an incomplete line is not searched again",
        arguments: [
            "GET /abc", "GET / HTTP/1.1\r\nHos", "GET / HTTP/1.1\r\nHost: a\r\nName: value",
        ])
    func openLine(beginning: String) throws {
        let original = Array(beginning.utf8)
        let more = [UInt8](repeating: UInt8(ascii: "x"), count: 200)
        var bytes = original
        var parser = HeadParser(.request)
        #expect(try parser.parse(bytes.span) == nil)
        for byte in more {
            for place in bytes.indices { bytes[place] = 0 }
            bytes.append(byte)
            #expect(try parser.parse(bytes.span) == nil)
        }
    }

    @Test("Trailers are not read again")
    func trailers() throws {
        var parser = HeadParser(.trailers)
        var bytes = Array("A: b\r\nC: d\r\nE: open".utf8)
        #expect(try parser.parse(bytes.span) == nil)
        #expect(parser.fieldCount == 2)
        for place in bytes.indices { bytes[place] = 0 }
        bytes.append(UInt8(ascii: "x"))
        #expect(try parser.parse(bytes.span) == nil)
    }

    @Test("Each byte of chunked content and its framing is consumed at once")
    func content() throws {
        var parser = BodyParser(.chunked)
        var content: [UInt8] = []
        for byte in Array("3\r\nabc\r\n2;x=\"y\"\r\nde\r\n0\r\n".utf8) {
            let single = [byte]
            var position = 0
            while case .content(let range) = try parser.next(single.span, from: &position) {
                content += single[range]
            }
            #expect(position == 1)
        }
        #expect(content == Array("abcde".utf8))
    }
}
