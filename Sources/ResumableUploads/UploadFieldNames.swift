internal import HTTPParser

/// The fields of both protocols.
extension HTTPFieldName {
    static let uploadComplete: HTTPFieldName = "Upload-Complete"
    /// The opposite of Upload-Complete, in the interop versions 3 and 4 of the draft.
    static let uploadIncomplete: HTTPFieldName = "Upload-Incomplete"
    static let uploadOffset: HTTPFieldName = "Upload-Offset"
    static let uploadLength: HTTPFieldName = "Upload-Length"
    static let uploadLimit: HTTPFieldName = "Upload-Limit"
    static let interopVersion: HTTPFieldName = "Upload-Draft-Interop-Version"
    static let acceptPatch: HTTPFieldName = "Accept-Patch"

    static let tusResumable: HTTPFieldName = "Tus-Resumable"
    static let tusVersion: HTTPFieldName = "Tus-Version"
    static let tusExtension: HTTPFieldName = "Tus-Extension"
    static let tusMaxSize: HTTPFieldName = "Tus-Max-Size"
    static let uploadDeferLength: HTTPFieldName = "Upload-Defer-Length"
    static let uploadMetadata: HTTPFieldName = "Upload-Metadata"
    static let uploadExpires: HTTPFieldName = "Upload-Expires"
    static let methodOverride: HTTPFieldName = "X-HTTP-Method-Override"
}

/// Reads the structured fields of the draft (RFC 9651): items, whose parameters are ignored. A
/// malformed field counts as absent, as the draft requires.
enum FieldItem {
    /// The value of the only line of a field, without parameters.
    private static func text(_ name: HTTPFieldName, _ read: Reader) -> String? {
        let lines = read(name)
        guard lines.count == 1 else { return nil }
        // By bytes, because splitting a long text of combining marks takes quadratic time.
        return String(Substring(lines[0].utf8.prefix { $0 != UInt8(ascii: ";") }))
    }

    /// Returns the values of all lines of a field.
    typealias Reader = (HTTPFieldName) -> [String]

    static func boolean(_ name: HTTPFieldName, in read: Reader) -> Bool? {
        // Comparing a long text of combining characters takes quadratic time.
        guard let text = text(name, read), text.utf8.count == 2 else { return nil }
        switch text {
        case "?1": return true
        case "?0": return false
        default: return nil
        }
    }

    /// A nonnegative integer of at most 15 digits.
    static func integer(_ name: HTTPFieldName, in read: Reader) -> Int64? {
        guard let text = text(name, read), text.utf8.count <= 15 else { return nil }
        return FieldValues.parseDecimal(text)
    }
}
