internal import HTTPCodecs

/// Decides which media types of clients are stored, and which types are safe to show.
enum KeptMediaType {
    /// The most bytes; no meaningful media type is longer.
    private static let byteLimit = 255

    /// The part of a Content-Type that is worth keeping.
    /// - Parameters:
    ///   - field: the value of the client's field.
    ///   - derived: the type that the name of the file implies.
    /// - Returns: `nil` if the name implies the same type, if the value is not a media type, and
    ///   for `application/octet-stream`, which clients send for an unknown type (RFC 9110 section
    ///   8.3).
    package static func worthKeeping(_ field: String, derived: String) -> String? {
        guard field.utf8.count <= byteLimit, field.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }),
            let type = MediaType(field), type.essence != "application/octet-stream"
        else { return nil }
        let known = MediaType(derived)
        let isKnown =
            type == known || (type.parameters.isEmpty && type.essence == known?.essence)
        return isKnown ? nil : field
    }

    /// Whether a browser can show content of the type without running scripts in it.
    ///
    /// Only listed types count as safe, because browsers run the scripts of XHTML in each type that
    /// ends with `+xml` (RFC 7303 section 4.2), such as `image/x+xml`.
    static func isInert(_ type: String) -> Bool {
        guard let type = MediaType(type), !type.isXML else { return false }
        return inertTypes.contains(type.essence)
    }

    private static let inertTypes: Set<String> = [
        "image/apng", "image/avif", "image/bmp", "image/gif", "image/heic", "image/heif",
        "image/jpeg", "image/jpg", "image/jxl", "image/png", "image/tiff",
        "image/vnd.microsoft.icon", "image/webp", "image/x-icon", "image/x-ms-bmp",
        "audio/3gpp", "audio/aac", "audio/flac", "audio/midi", "audio/mp4", "audio/mpeg",
        "audio/ogg", "audio/opus", "audio/wav", "audio/wave", "audio/webm", "audio/x-flac",
        "audio/x-m4a", "audio/x-wav",
        "video/3gpp", "video/mp2t", "video/mp4", "video/mpeg", "video/ogg", "video/quicktime",
        "video/webm", "video/x-m4v", "video/x-matroska", "video/x-msvideo",
    ]
}
