import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 9112, 7.1: Encoding chunked content")
struct ChunkedEncoderTests {
    private func encode(_ pieces: [[UInt8]], trailers: HTTPFields = [:]) throws -> [UInt8] {
        var encoder = ChunkedEncoder()
        var output: [UInt8] = []
        for piece in pieces { encoder.encode(piece.span, into: &output) }
        try encoder.finish(into: &output, trailers: trailers)
        return output
    }

    @Test(
        "Each piece is a chunk, and an empty piece is none",
        arguments: [
            ([], [:], "0\r\n\r\n"), (["", ""], [:], "0\r\n\r\n"),
            (["abc"], [:], "3\r\nabc\r\n0\r\n\r\n"),
            (["a", "", "0123456789ABCDEF"], [:], "1\r\na\r\n10\r\n0123456789ABCDEF\r\n0\r\n\r\n"),
            (["a"], ["A": "b", "a": "c"], "1\r\na\r\n0\r\nA: b\r\na: c\r\n\r\n"),
        ] as [([String], HTTPFields, String)])
    func encoding(pieces: [String], trailers: HTTPFields, wire: String) throws {
        let output = try encode(pieces.map { Array($0.utf8) }, trailers: trailers)
        #expect(String(decoding: output, as: UTF8.self) == wire)
    }

    @Test(
        "Decoding returns the encoded content and trailers",
        arguments: [0, 1, 15, 16, 255, 4_096, 70_000])
    func roundTrip(count: Int) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let halves = [Array(content[..<(count / 3)]), Array(content[(count / 3)...])]
        let output = try encode(halves, trailers: ["X-Check": "\(count)"])
        var decoder = ChunkedDecoder()
        var decoded: [UInt8] = []
        try decoder.decode(output.span, into: &decoded)
        try decoder.finish()
        #expect(decoded == content)
        #expect(decoder.trailers == ["X-Check": "\(count)"])
    }

    @Test("A chunk may be written around content that is sent separately")
    func around() throws {
        var encoder = ChunkedEncoder()
        var output: [UInt8] = []
        encoder.beginChunk(of: 0xABCDE, into: &output)
        encoder.endChunk(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "abcde\r\n\r\n")
    }

    @Test(
        "Trailers that must not be sent are refused, and nothing is written",
        arguments: [
            (["A": "b\r\nc: d"], .invalidFieldValue), (["Content-Length": "3"], .framingField),
            (["Transfer-Encoding": "chunked"], .framingField),
        ] as [(HTTPFields, HTTPMessageError.Kind)])
    func trailerRefusal(trailers: HTTPFields, kind: HTTPMessageError.Kind) throws {
        var encoder = ChunkedEncoder()
        var output: [UInt8] = []
        let error = #expect(throws: HTTPMessageError.self) {
            try encoder.finish(into: &output, trailers: trailers)
        }
        #expect(error?.kind == kind)
        #expect(output == [])
        try encoder.finish(into: &output)
        #expect(String(decoding: output, as: UTF8.self) == "0\r\n\r\n")
    }
}
