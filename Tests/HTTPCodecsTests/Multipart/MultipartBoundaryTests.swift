import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 2046, 5.1.1: Boundaries")
struct MultipartBoundaryTests {
    @Test(
        "1 to 70 characters of the rule bchars are a boundary",
        arguments: [
            "x", "0123456789", "'()+_,-./:=?", "a b", " a", "----WebKitFormBoundary7MA4YWxkTrZu0gW",
            String(repeating: "b", count: 70),
        ])
    func accepted(text: String) {
        #expect(MultipartBoundary(text)?.text == text)
    }

    @Test(
        "Any other text is refused as a boundary",
        arguments: [
            "", "a ", " ", "a\r\n", "a\u{0}", "a\"", "a;b", "a@b", "a*b", "a[b]", "ä", "a\tb", "a%",
            String(repeating: "b", count: 71),
        ])
    func refused(text: String) {
        #expect(MultipartBoundary(text) == nil)
    }

    @Test(
        "The boundary is read from the media type",
        arguments: ["form-data", "mixed", "related", "byteranges"])
    func mediaType(subtype: String) throws {
        let type = try #require(MediaType("multipart/\(subtype); boundary=\"a b\""))
        #expect(try MultipartBoundary(of: type).text == "a b")
    }

    @Test(
        "A media type without a boundary is refused",
        arguments: [
            ("multipart/form-data", CodecError.Kind.invalidBoundary),
            ("multipart/form-data; boundary=\"\"", .invalidBoundary),
            ("multipart/form-data; boundary=\"a@b\"", .invalidBoundary),
            ("text/plain; boundary=b", .unsupportedMediaType),
        ])
    func refusedType(text: String, kind: CodecError.Kind) throws {
        let type = try #require(MediaType(text))
        #expect(throws: CodecError(kind)) { try MultipartBoundary(of: type) }
        #expect(throws: CodecError(kind)) { _ = try PartParser(of: type) }
        let pieces = AsyncStream<[UInt8]> { $0.finish() }
        #expect(throws: CodecError(kind)) { _ = try MultipartParts(of: type, in: pieces) }
    }

    @Test("Random boundaries are different tokens of 32 characters")
    func random() {
        let boundaries = (0..<1_000).map { _ in MultipartBoundary.random() }
        #expect(Set(boundaries).count == 1_000)
        for boundary in boundaries {
            #expect(boundary.text.utf8.count == 32)
            #expect(MultipartBoundary(boundary.text) == boundary)
            #expect(FieldValues.isToken(boundary.text))
        }
    }
}
