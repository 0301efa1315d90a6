internal import HTTPParser

/// The place in a file where the content of a PATCH goes: SabreDAV's X-Update-Range field.
package enum PartialUpdate: Hashable, Sendable {
    /// The media type of the content.
    static let mediaType = "application/x-sabredav-partialupdate"

    /// At the end of the file.
    case append
    /// From an offset on; through another offset, inclusive, if the field names it.
    case from(Int64, through: Int64?)
    /// From this many bytes before the end on.
    case fromEnd(Int64)

    /// - Returns: `nil` unless the value is `append` or one range of bytes.
    package init?(_ field: String) {
        guard field.utf8.count <= 64 else { return nil }
        let text = field.lowercased()
        if text == "append" {
            self = .append
            return
        }
        guard text.hasPrefix("bytes=") else { return nil }
        let parts = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let (first, last) = (String(parts[0]), String(parts[1]))
        if first.isEmpty {
            guard let count = FieldValues.parseDecimal(last), count > 0 else { return nil }
            self = .fromEnd(count)
            return
        }
        guard let start = FieldValues.parseDecimal(first) else { return nil }
        guard !last.isEmpty else {
            self = .from(start, through: nil)
            return
        }
        guard let end = FieldValues.parseDecimal(last), end >= start else { return nil }
        self = .from(start, through: end)
    }

    /// The offset of the content in a file.
    /// - Parameters:
    ///   - count: the bytes of the content.
    ///   - length: the length of the file.
    /// - Returns: `nil` if the content does not fit the range, or would leave a gap.
    package func offset(of count: Int64, in length: Int64) -> Int64? {
        switch self {
        case .append: return length
        case .from(let start, let end):
            if let end, end - start != count - 1 { return nil }
            return start <= length ? start : nil
        case .fromEnd(let back): return back <= length ? length - back : nil
        }
    }
}
