import HTTPParser

/// Limits on a whole head and on a request target; `nil` is no limit. The parser itself limits only
/// lines and sections.
struct HeadBudget: Equatable, Sendable {
    /// The most bytes from the start line to the end of the empty line.
    var headBytes: Int?
    var targetBytes: Int?

    var isUnlimited: Bool { headBytes == nil && targetBytes == nil }

    /// The error for the first limit that a head exceeds; `nil` if it exceeds none.
    /// - Parameters:
    ///   - head: the head as far as it was read, possibly after empty lines.
    ///   - offset: the offset of its first byte in the stream.
    func fault(in head: [UInt8], at offset: Int) -> HTTPParseError? {
        let start = head.firstIndex { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        guard let start else { return nil }
        let line = head[start...].prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        let faults = [targetFault(line), headFault(head[start...], lineEnd: line.endIndex)]
        guard let first = faults.compactMap(\.self).min(by: { $0.offset < $1.offset }) else {
            return nil
        }
        return HTTPParseError(first.kind, at: offset + first.offset)
    }

    private func targetFault(_ line: ArraySlice<UInt8>) -> HTTPParseError? {
        guard let targetBytes, let space = line.firstIndex(of: UInt8(ascii: " ")) else {
            return nil
        }
        let target = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        guard target.count > targetBytes else { return nil }
        return HTTPParseError(.requestLineTooLong, at: target.startIndex + targetBytes)
    }

    private func headFault(_ head: ArraySlice<UInt8>, lineEnd: Int) -> HTTPParseError? {
        guard let headBytes, head.count > headBytes else { return nil }
        let place = head.startIndex + headBytes
        return HTTPParseError(place < lineEnd ? .requestLineTooLong : .fieldsTooLong, at: place)
    }
}
