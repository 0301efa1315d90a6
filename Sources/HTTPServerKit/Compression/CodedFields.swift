internal import HTTPParser
internal import HTTPServerCore

extension HTTPFields {
    /// Announces that the response depends on Accept-Encoding (RFC 9110 section 12.5.5).
    mutating func addVaryByEncoding() {
        guard !keepVaryByEncoding else { return }
        addVary("Accept-Encoding")
    }

    /// Whether the lines of `keepLinesAndFacts()` contain `Vary: Accept-Encoding`.
    var keepVaryByEncoding: Bool { (notes as? KeptCodedFields)?.varyByEncoding ?? false }

    /// Whether Vary announces that the response depends on Accept-Encoding.
    var varyByEncoding: Bool {
        values(of: .vary).contains { line in
            let names = FieldValues.tokens(line) ?? []
            return names.contains { $0 == "*" || $0.lowercased() == "accept-encoding" }
        }
    }

    /// Serializes the fields once, and decides once whether the content may be compressed. Use it
    /// for fields that are sent many times.
    mutating func keepLinesAndFacts() { keepLines(notes: KeptCodedFields(self)) }

    /// Marks the content as compressed: another representation, without ranges and with a separate
    /// entity tag (RFC 9110 section 8.8.3.3).
    mutating func describeGzip() {
        append(.contentEncoding, "gzip")
        remove(.acceptRanges)
        if let tag = self[.eTag], let variant = VariantConditions.variantTag(of: tag) {
            self[.eTag] = variant
        }
    }
}

/// The facts about fields that are sent many times.
final class KeptCodedFields: Sendable {
    let facts: CodedFields
    /// Whether Vary is exactly `Accept-Encoding`.
    let varyByEncoding: Bool

    init(_ fields: HTTPFields) {
        facts = CodedFields(fields)
        varyByEncoding = fields.values(of: .vary) == ["Accept-Encoding"]
    }
}

/// Facts about the content of a response, read from its fields in one pass, because every response
/// needs them.
struct CodedFields: Sendable {
    /// The value of Content-Type.
    private(set) var contentType: String?
    /// Whether the fields rule out compression: the content is coded already, is a part, has a
    /// digest that would become wrong, or must not be changed (RFC 9110 sections 8.4 and 14.4, RFC
    /// 9530, RFC 9111 section 5.2.2.6).
    private(set) var forbidsCompression = false

    /// - Parameter ofPart: whether the content is a part. Content-Range is ignored then, because
    ///   the facts are about the whole content.
    init(_ fields: HTTPFields, ofPart: Bool = false) {
        for index in fields.indices {
            let letters = fields[index].name.text.utf8
            // Length and first letter rule out most names, and cost less than comparing them.
            switch (letters.count, (letters.first ?? 0) | 0x20) {
            case (12, UInt8(ascii: "c")) where fields[index].name == .contentType:
                contentType = contentType ?? fields[index].value
            case (13, UInt8(ascii: "c")) where fields[index].name == .cacheControl:
                forbidsCompression =
                    forbidsCompression || Self.hasNoTransform(fields[index].value)
            case (13, UInt8(ascii: "c")) where fields[index].name == .contentRange:
                forbidsCompression = forbidsCompression || !ofPart
            case (7, UInt8(ascii: "t")) where fields[index].name == .trailer:
                forbidsCompression =
                    forbidsCompression || Self.announcesDigest(fields[index].value)
            case (11, _), (14, _), (16, UInt8(ascii: "c")), (6, UInt8(ascii: "d")):
                forbidsCompression =
                    forbidsCompression || Self.obstacles.contains(fields[index].name)
            default: break
            }
        }
    }

    private static let digests = DigestFields.ofContent + [DigestFields.representation]
    private static let obstacles: [HTTPFieldName] = [.contentEncoding] + digests

    /// Whether Trailer announces a digest, which would be that of the uncompressed content (RFC
    /// 9110 section 6.6.2).
    private static func announcesDigest(_ trailer: String) -> Bool {
        let names = FieldValues.tokens(trailer) ?? []
        return names.contains { digests.contains(HTTPFieldName(unchecked: $0)) }
    }

    private static func hasNoTransform(_ value: String) -> Bool {
        guard value.utf8.count >= 12 else { return false }
        return FieldValues.list(value)?.contains { $0.lowercased() == "no-transform" } ?? false
    }
}
