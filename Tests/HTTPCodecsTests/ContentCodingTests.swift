import HTTPCodecs
import HTTPParser
import Testing

@Suite("RFC 9110, 8.4: Content-Encoding")
struct ContentCodingTests {
    @Test(
        "One layer of a known coding is read",
        arguments: [
            (nil, .identity), ("", .identity), ("identity", .identity), (" , ,", .identity),
            ("gzip", .gzip), ("GZip", .gzip), ("x-gzip", .gzip), ("X-GZIP", .gzip),
            ("deflate", .deflate), ("identity, gzip", .gzip), ("deflate ,identity", .deflate),
        ] as [(String?, ContentCoding)])
    func single(fieldValue: String?, coding: ContentCoding) throws {
        #expect(try ContentCoding(applied: fieldValue) == coding)
    }

    @Test(
        "Other codings, several layers and values that are no list are refused with 415",
        arguments: [
            "br", "zstd", "compress", "gzip, gzip", "gzip, deflate", "deflate, identity, x-gzip",
            "gzip;q=1", "gzip deflate", "\"gzip\"", "*", "gzi", "gzipp",
        ])
    func refusal(fieldValue: String) {
        let error = #expect(throws: CodecError.self) { try ContentCoding(applied: fieldValue) }
        #expect(error?.kind == .unsupportedContentCoding)
        #expect(error?.suggestedStatus == .unsupportedMediaType)
    }

    @Test("Several fields are one list")
    func lines() throws {
        var fields = HTTPFields()
        #expect(try ContentCoding(applied: fields) == .identity)
        fields.append(.contentEncoding, "identity")
        fields.append(.contentEncoding, "gzip")
        #expect(try ContentCoding(applied: fields) == .gzip)
        fields.append(.contentEncoding, "gzip")
        #expect(throws: CodecError.self) { try ContentCoding(applied: fields) }
    }

    @Test("The codings that decoders accept are known by their tokens")
    func accepted() {
        let tokens = FieldValues.tokens(ContentCoding.acceptedByDecoders) ?? []
        #expect(tokens.map(ContentCoding.init(token:)) == [.gzip, .deflate])
        #expect(ContentCoding.allCases.allSatisfy { ContentCoding(token: $0.rawValue) == $0 })
    }
}
