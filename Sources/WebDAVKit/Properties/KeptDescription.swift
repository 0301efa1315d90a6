internal import HTTPCrypto
internal import HTTPServerCore
internal import ToolkitSystem

/// The media type, the language and the checksums that a client sent with the content of a file,
/// stored with its dead properties.
///
/// They are valid only while the file has the same length and modification time, because another
/// program may write other content.
struct KeptDescription: Hashable, Sendable {
    var content: ContentDescription
    private let length: Int64
    private let modified: Int64
    /// The name before the language, where a checksum has the name of its hash function. Earlier
    /// versions of this code skip unknown names.
    private static let languageKey = "language"

    init(_ content: ContentDescription, of status: FileStatus) {
        self.content = content
        length = status.size
        modified = Self.modified(status)
    }

    /// - Parameter encoded: text in the form of `encoded`.
    init?(encoded: String) {
        let parts = encoded.split(
            separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let length = Int64(parts[0]), let modified = Int64(parts[1]) else {
            return nil
        }
        (self.length, self.modified) = (length, modified)
        content = ContentDescription(mediaType: parts[3].isEmpty ? nil : String(parts[3]))
        for text in parts[2].split(separator: ",") {
            let parts = text.split(separator: ":")
            guard parts.count == 2, let bytes = Hex.bytes(of: String(parts[1])) else { continue }
            if parts[0] == Self.languageKey {
                content.language = String(decoding: bytes, as: UTF8.self)
            } else if let algorithm = ContentChecksum.Algorithm(rawValue: String(parts[0])),
                let checksum = ContentChecksum(algorithm, hash: bytes)
            {
                content.checksums.append(checksum)
            }
        }
    }

    /// Four values, separated by spaces: length in bytes, modification time in nanoseconds,
    /// checksums and language separated by commas, media type. The last two may be empty.
    var encoded: String {
        var values = content.checksums.map {
            "\($0.algorithm.rawValue):\(Hex.text(of: $0.hash))"
        }
        if let language = content.language {
            values.append("\(Self.languageKey):\(Hex.text(of: Array(language.utf8)))")
        }
        return "\(length) \(modified) \(values.joined(separator: ",")) "
            + (content.mediaType ?? "")
    }

    func isOf(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.size == length && Self.modified(status) == modified
    }

    private static func modified(_ status: FileStatus) -> Int64 {
        status.modifiedSeconds &* 1_000_000_000 &+ status.modifiedNanoseconds
    }
}
