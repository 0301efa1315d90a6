internal import HTTPCrypto
internal import HTTPServerCore
internal import ToolkitSystem

/// The media type and the checksums that came with the content of a file, kept beside its dead
/// properties.
///
/// They count as long as the file has the length and the time that it had then, so that nothing is
/// said of content that another program has written.
struct KeptDescription: Hashable, Sendable {
    var content: ContentDescription
    private let length: Int64
    private let modified: Int64

    init(_ content: ContentDescription, of status: FileStatus) {
        self.content = content
        length = status.size
        modified = Self.modified(status)
    }

    /// - Parameter encoded: as `encoded` gives it.
    init?(encoded: String) {
        let parts = encoded.split(
            separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let length = Int64(parts[0]), let modified = Int64(parts[1]) else {
            return nil
        }
        (self.length, self.modified) = (length, modified)
        let checksums = parts[2].split(separator: ",").compactMap { text -> ContentChecksum? in
            let parts = text.split(separator: ":")
            guard parts.count == 2, let hash = Hex.bytes(of: String(parts[1])) else { return nil }
            return ContentChecksum.Algorithm(rawValue: String(parts[0])).flatMap {
                ContentChecksum($0, hash: hash)
            }
        }
        content = ContentDescription(
            mediaType: parts[3].isEmpty ? nil : String(parts[3]), checksums: checksums)
    }

    /// Length, time, checksums with commas between them, and media type, with spaces between them;
    /// the last two may be empty.
    var encoded: String {
        let checksums = content.checksums.map {
            "\($0.algorithm.rawValue):\(Hex.text(of: $0.hash))"
        }
        return "\(length) \(modified) \(checksums.joined(separator: ",")) "
            + (content.mediaType ?? "")
    }

    func isOf(_ status: FileStatus) -> Bool {
        status.kind == .regular && status.size == length && Self.modified(status) == modified
    }

    private static func modified(_ status: FileStatus) -> Int64 {
        status.modifiedSeconds &* 1_000_000_000 &+ status.modifiedNanoseconds
    }
}
