import HTTPParser
import Testing

@Suite("Fields and content of a parsed message, read without a copy")
struct FieldSectionTests {
    private static let text =
        "POST / HTTP/1.1\r\nHost: a\r\nX-One:  1 \r\nx-one: 2\r\nContent-Length: 4\r\n\r\nwxyz"

    private struct Stop: Error, Equatable { var name: String }

    @Test("forEach visits each field in the order of the message, including duplicates")
    func visitsAll() throws {
        var parser = RequestParser()
        parser.append(Array(Self.text.utf8).span)
        guard case .head(let head)? = try parser.next() else { throw Stop(name: "no head") }
        var lines: [String] = []
        head.fields.forEach { lines.append("\($0.name)=\($0.value)") }
        #expect(lines == ["Host=a", "X-One=1", "x-one=2", "Content-Length=4"])
    }

    @Test("forEachBytes passes the bytes of names and values")
    func visitsBytes() throws {
        var parser = RequestParser()
        parser.append(Array(Self.text.utf8).span)
        guard case .head(let head)? = try parser.next() else { throw Stop(name: "no head") }
        var joined: [UInt8] = []
        head.fields.forEachBytes { name, value in
            joined.append(copying: name)
            joined.append(0x3D)
            joined.append(copying: value)
            joined.append(0x2C)
        }
        #expect(joined == Array("Host=a,X-One=1,x-one=2,Content-Length=4,".utf8))
    }

    @Test("An error of the body ends the visit")
    func stops() throws {
        var parser = RequestParser()
        parser.append(Array(Self.text.utf8).span)
        guard case .head(let head)? = try parser.next() else { throw Stop(name: "no head") }
        var count = 0
        do {
            try head.fields.forEach { field throws(Stop) in
                count += 1
                if field.value == "1" { throw Stop(name: "\(field.name)") }
            }
            Issue.record("no error")
        } catch {
            #expect(error == Stop(name: "X-One") && count == 2)
        }
    }

    @Test("The content of an event can be appended to an array", arguments: [1, 3, 80])
    func appends(_ step: Int) throws {
        let bytes = Array(Self.text.utf8)
        var parser = RequestParser()
        var content: [UInt8] = Array("v".utf8)
        for start in stride(from: 0, to: bytes.count, by: step) {
            parser.append(Array(bytes[start..<min(start + step, bytes.count)]).span)
            while let event = try parser.next() {
                if case .content(let piece) = event { content.append(copying: piece) }
            }
        }
        #expect(content == Array("vwxyz".utf8))
    }
}
