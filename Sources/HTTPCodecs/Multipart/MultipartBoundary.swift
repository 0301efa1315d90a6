/// The text that separates the parts of multipart content.
///
/// RFC 2046, section 5.1.1.
public struct MultipartBoundary: Hashable, Sendable, CustomStringConvertible {
    /// The boundary without the two dashes before it: 1 to 70 characters.
    public let text: String

    /// Creates a boundary from the text in a media type.
    ///
    /// Nil unless it has 1 to 70 characters of the rule `bchars` and does not end with a space.
    public init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), text.utf8.allSatisfy(Self.isBoundaryByte),
            text.utf8.last != UInt8(ascii: " ")
        else { return nil }
        self.text = text
    }

    private init(_ random: (UInt64, UInt64)) {
        text = Self.digits(random.0) + Self.digits(random.1)
    }

    /// A boundary of 128 random bits from the system's generator.
    ///
    /// Content contains it neither by intent nor by chance.
    public static func random() -> MultipartBoundary {
        var generator = SystemRandomNumberGenerator()
        return MultipartBoundary((generator.next(), generator.next()))
    }

    /// The boundary that a media type names.
    /// - Throws: `.unsupportedMediaType` if the type is not `multipart`, `.invalidBoundary` if the
    ///   boundary is missing or invalid.
    public init(of mediaType: MediaType) throws(CodecError) {
        guard mediaType.type == "multipart" else { throw CodecError(.unsupportedMediaType) }
        guard let boundary = mediaType["boundary"].flatMap(Self.init) else {
            throw CodecError(.invalidBoundary)
        }
        self = boundary
    }

    /// The text.
    public var description: String { text }

    /// bchars = DIGIT / ALPHA / "'" / "(" / ")" / "+" / "_" / "," / "-" / "." / "/" / ":" / "=" /
    /// "?" / SP
    static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x20, 0x27...0x29, 0x2B...0x2F, 0x3A, 0x3D, 0x3F, 0x5F: true
        default: false
        }
    }

    /// 16 digits with leading zeros, so that all boundaries have the same length.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// The kind of multipart content, which decides the fields that its parts must have.
public enum MultipartKind: Hashable, Sendable {
    /// `multipart/form-data`: each part is a field of a form and has a name (RFC 7578).
    case formData
    /// `multipart/mixed`, and every unknown subtype (RFC 2046 section 5.1.3).
    case mixed
    /// `multipart/byteranges`: parts of one resource (RFC 9110 section 14.6).
    case byteRanges

    init(subtype: String) {
        switch subtype {
        case "form-data": self = .formData
        case "byteranges": self = .byteRanges
        default: self = .mixed
        }
    }

    /// The subtype of the media type.
    public var subtype: String {
        switch self {
        case .formData: "form-data"
        case .mixed: "mixed"
        case .byteRanges: "byteranges"
        }
    }
}
