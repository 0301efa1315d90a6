public import HTTPParser

/// The preferences of an `Accept-Encoding` field.
///
/// ```swift
/// let preference = ContentCodingPreference("gzip;q=0.8, deflate;q=0.5, identity;q=0")
/// preference?.best(of: [.deflate, .gzip])  // gzip
/// preference?.acceptsIdentity              // false
/// ```
///
/// Parsing allocates nothing, because a server does it for nearly every request.
///
/// RFC 9110, section 12.5.3.
public struct ContentCodingPreference: Hashable, Sendable {
    /// Weights in thousandths; -1 for a coding that the field does not name.
    private var gzip: Int16 = -1
    private var deflate: Int16 = -1
    private var identity: Int16 = -1
    private var others: Int16 = -1

    private init() {}

    /// The preferences of a request without the field.
    ///
    /// The RFC makes any coding acceptable without the field. But clients that name no codings
    /// usually support none, so only identity is used.
    public static var absent: ContentCodingPreference { ContentCodingPreference() }

    /// Parses the value of an `Accept-Encoding` field.
    ///
    /// Nil if the field is malformed: treat it as ``absent`` then. Unknown codings are skipped; the
    /// first weight of a coding counts.
    public init?(_ fieldValue: Span<UInt8>) {
        var reader = FieldValueReader(fieldValue)
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let token = reader.takeToken(), let weight = reader.takeWeight() else {
                return nil
            }
            note(fieldValue.extracting(token), weight)
            reader.skipEmptyElements()
        }
    }

    /// Parses the value of an `Accept-Encoding` field.
    ///
    /// The same as ``init(_:)-(Span<UInt8>)`` on the UTF-8 of the text.
    public init?(_ fieldValue: String) {
        var fieldValue = fieldValue
        let preference = fieldValue.withUTF8 { utf8 in
            unsafe ContentCodingPreference(Span(_unsafeElements: utf8))
        }
        guard let preference else { return nil }
        self = preference
    }

    /// Reads all `Accept-Encoding` field lines of a request; ``absent`` without one, or if they are
    /// malformed.
    public init(fields: HTTPFields) {
        var joined: String?
        for field in fields where field.name == .acceptEncoding {
            joined = joined.map { "\($0),\(field.value)" } ?? field.value
        }
        self = joined.flatMap { ContentCodingPreference($0) } ?? .absent
    }

    /// The weight of a coding, 0 (not acceptable) to 1000.
    ///
    /// Without an entry for identity or `*`, identity is acceptable with the least weight, 1.
    public func weight(of coding: ContentCoding) -> Int {
        switch coding {
        case .gzip: Int(gzip >= 0 ? gzip : max(others, 0))
        case .deflate: Int(deflate >= 0 ? deflate : max(others, 0))
        case .identity: Int(identity >= 0 ? identity : others >= 0 ? others : 1)
        }
    }

    /// Whether content without a coding is acceptable: true unless `identity;q=0` forbids it, or
    /// `*;q=0` without an entry for identity.
    public var acceptsIdentity: Bool { weight(of: .identity) > 0 }

    /// The coding with the highest weight among the offered ones and identity, which is always
    /// offered.
    ///
    /// Among equal weights the earlier coding wins; identity comes last if it is not in the list.
    /// Nil if no coding is acceptable, not even identity. The server may then answer 406, or ignore
    /// the field and answer without a coding, which is usually better (RFC 9110, section 12.4.1).
    public func best(of codings: [ContentCoding]) -> ContentCoding? {
        var best: (coding: ContentCoding, weight: Int)?
        for coding in codings {
            consider(coding, &best)
        }
        consider(.identity, &best)
        return best?.coding
    }

    private func consider(
        _ coding: ContentCoding, _ best: inout (coding: ContentCoding, weight: Int)?
    ) {
        let weight = weight(of: coding)
        guard weight > best?.weight ?? 0 else { return }
        best = (coding, weight)
    }

    private mutating func note(_ token: Span<UInt8>, _ weight: Int16) {
        if token.isWord("gzip") || token.isWord("x-gzip") {
            if gzip < 0 { gzip = weight }
        } else if token.isWord("deflate") {
            if deflate < 0 { deflate = weight }
        } else if token.isWord("identity") {
            if identity < 0 { identity = weight }
        } else if token.isWord("*") {
            if others < 0 { others = weight }
        }
    }
}

extension Span<UInt8> {
    /// Whether the bytes are this lower-case word, ignoring case.
    fileprivate func isWord(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        for index in indices {
            let byte = self[index]
            let lower = byte &- 0x41 < 26 ? byte | 0x20 : byte
            guard unsafe lower == word.utf8Start[index] else { return false }
        }
        return true
    }
}

extension FieldValueReader {
    /// Takes the weight after an element and the element's end; 1000 without a weight.
    ///
    /// Nil for a parameter other than the weight.
    fileprivate mutating func takeWeight() -> Int16? {
        skipWhitespace()
        guard take(0x3B) else { return takeElementEnd() ? 1_000 : nil }
        skipWhitespace()
        guard take(0x71) || take(0x51), take(0x3D), let digits = takeToken(),
            let weight = FieldValues.parseWeight(bytes.extracting(digits)), takeElementEnd()
        else { return nil }
        return Int16(weight)
    }
}
