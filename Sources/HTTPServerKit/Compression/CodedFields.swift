internal import HTTPParser
internal import HTTPServerCore

extension HTTPFields {
    /// Says that the answer depends on Accept-Encoding (RFC 9110 section 12.5.5).
    mutating func addVaryByEncoding() { addVary("Accept-Encoding") }

    /// Says that the content is compressed by now: another representation, of which no ranges are
    /// served, with a separate tag (RFC 9110 section 8.8.3.3).
    mutating func describeGzip() {
        append(.contentEncoding, "gzip")
        remove(.acceptRanges)
        if let tag = self[.eTag], let variant = VariantConditions.variantTag(of: tag) {
            self[.eTag] = variant
        }
    }
}

/// The facts about the content in the fields of a response, found in one walk: every response needs
/// them.
struct CodedFields {
    /// The value of Content-Type.
    private(set) var contentType: String?
    /// Whether a field says that the content is coded already, is a part, has a digest that would
    /// be wrong, or must not be changed (RFC 9110 sections 8.4 and 14.4, RFC 9530, RFC 9111
    /// section 5.2.2.6).
    private(set) var forbidCompression = false

    init(_ fields: HTTPFields) {
        for field in fields {
            let letters = field.name.text.utf8
            // Comparing names costs more than telling most of them apart by this.
            switch (letters.count, (letters.first ?? 0) | 0x20) {
            case (12, UInt8(ascii: "c")) where field.name == .contentType:
                contentType = contentType ?? field.value
            case (13, UInt8(ascii: "c")) where field.name == .cacheControl:
                forbidCompression = forbidCompression || Self.hasNoTransform(field.value)
            case (11, _), (13, UInt8(ascii: "c")), (14, _), (16, UInt8(ascii: "c")),
                (6, UInt8(ascii: "d")):
                forbidCompression = forbidCompression || Self.obstacles.contains(field.name)
            default: break
            }
        }
    }

    private static let obstacles: [HTTPFieldName] = [
        .contentEncoding, .contentRange, "Content-Digest", "Repr-Digest", "Content-MD5", "Digest",
    ]

    private static func hasNoTransform(_ value: String) -> Bool {
        guard value.utf8.count >= 12 else { return false }
        return FieldValues.list(value)?.contains { $0.lowercased() == "no-transform" } ?? false
    }
}
