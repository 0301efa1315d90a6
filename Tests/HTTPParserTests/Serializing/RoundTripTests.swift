import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9112, 3, 4, 6 and 7.1: Written messages are read back")
struct RoundTripTests {
    @Test("Requests are written and read back as in the table", arguments: RequestCase.all)
    func requests(item: RequestCase) throws {
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        // Twice, because a serialiser can be used again.
        for _ in 0..<2 {
            try serializer.head(
                item.method, target: item.target, fields: item.fields, framing: item.framing,
                closes: item.closes, into: &buffer)
            for piece in item.content {
                try serializer.content(Array(piece.utf8).span, into: &buffer)
            }
            try serializer.end(trailers: item.trailers, into: &buffer)
            let written = buffer.bytes.copied
            #expect(String(decoding: written, as: UTF8.self) == item.wire)
            let events = WireSetup().events(written)
            #expect(events.map(\.description).joined(separator: "\n") == item.events)
            buffer.removeAll()
        }
    }

    @Test("Responses are written and read back as in the table", arguments: ResponseCase.all)
    func responses(item: ResponseCase) throws {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        for _ in 0..<2 {
            try serializer.head(
                item.status, fields: item.fields, framing: item.framing, to: item.method,
                connection: item.connection, into: &buffer)
            for piece in item.content {
                try serializer.content(Array(piece.utf8).span, into: &buffer)
            }
            try serializer.end(trailers: item.trailers, into: &buffer)
            let written = buffer.bytes.copied
            #expect(String(decoding: written, as: UTF8.self) == item.wire)
            let setup = WireSetup(.response(to: [item.method]), closes: true)
            let events = setup.events(written)
            #expect(events.map(\.description).joined(separator: "\n") == item.events)
            buffer.removeAll()
        }
    }

    @Test("Interim responses are written before the final response")
    func interim() throws {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        try serializer.interim(.continue, into: &buffer)
        try serializer.interim(.earlyHints, fields: ["Link": "</a>"], into: &buffer)
        try serializer.head(.noContent, framing: .none, into: &buffer)
        try serializer.end(into: &buffer)
        let text = String(decoding: buffer.bytes.copied, as: UTF8.self)
        #expect(
            text == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + "HTTP/1.1 204 No Content\r\n\r\n")
    }

    @Test(
        "Chunks whose sizes have one to four digits are written and read back",
        arguments: [1, 15, 16, 17, 255, 256, 4_096])
    func chunkSizes(size: Int) throws {
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        try serializer.head(
            .post, target: "/", fields: [.host: "a"], framing: .chunked, into: &buffer)
        let content = [UInt8](repeating: UInt8(ascii: "x"), count: size)
        try serializer.content(content.span, into: &buffer)
        try serializer.end(into: &buffer)
        let events = WireSetup().events(buffer.bytes.copied)
        #expect(events.contains(.content(content)))
    }

    @Test("Every status from 200 to 599 is written with its phrase and read back")
    func statuses() throws {
        for code in 200...599 {
            let status = try #require(HTTPStatus(code))
            var serializer = ResponseSerializer()
            var buffer = ByteBuffer()
            try serializer.head(status, framing: .none, into: &buffer)
            try serializer.end(into: &buffer)
            let line = "HTTP/1.1 \(code) \(status.reasonPhrase)\r\n"
            #expect(String(decoding: buffer.bytes.copied, as: UTF8.self).hasPrefix(line))
            let events = WireSetup(.response(to: [.get])).events(buffer.bytes.copied)
            #expect(events.last == .end([]))
        }
    }
}

extension Span<UInt8> {
    /// A copy of the bytes.
    var copied: [UInt8] { indices.map { self[$0] } }
}
