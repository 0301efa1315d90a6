internal import HTTPParser

/// Finds delimiters in content. Stores the open boundaries, the innermost last.
///
/// A delimiter is a line end, two dashes and a boundary (RFC 2046 section 5.1.1). The line end is
/// part of the delimiter, and boundaries contain no CR, so two candidates never overlap: the search
/// is linear in any content.
struct Delimiters: Sendable {
    /// The result of a check at a place in the input.
    enum Verdict: Equatable {
        /// No delimiter.
        case none
        /// Perhaps a delimiter: some of its bytes have not arrived.
        case perhaps
        /// A delimiter of the level. `end` is the offset after it: padding and a line end must
        /// follow.
        case delimiter(level: Int, end: Int)
        /// The closing delimiter of the level, with two more dashes at the end.
        case close(level: Int, end: Int)
    }

    private var boundaries: [[UInt8]] = []
    private let search: BytePairSearch
    private let isLenient: Bool

    init(leniency: MultipartLeniency) {
        isLenient = leniency.contains(.bareLineFeed)
        // Search for the second dash, which is rarer in text than the first one.
        search =
            isLenient
            ? BytePairSearch(0x0A, 0x2D, distance: 2) : BytePairSearch(0x0D, 0x2D, distance: 3)
    }

    /// The number of open boundaries.
    var count: Int { boundaries.count }

    mutating func open(_ boundary: MultipartBoundary) {
        boundaries.append(Array(boundary.text.utf8))
    }

    mutating func closeInnermost() {
        boundaries.removeLast()
    }

    func contains(_ boundary: MultipartBoundary) -> Bool {
        boundaries.contains { $0.elementsEqual(boundary.text.utf8) }
    }

    /// The first place from `start` on where a delimiter begins with its line end, or may begin;
    /// `bytes.count` and `.none` if all of the bytes are content.
    func next(
        in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> (place: Int, verdict: Verdict) {
        var position = start
        while true {
            let place = unsafe search.firstPlace(in: bytes, from: position)
            guard place < bytes.count else { return unsafe atEnd(bytes, from: start) }
            let verdict = unsafe verdictWithLineEnd(at: place, in: bytes)
            if verdict != .none {
                return unsafe (lineEndStart(place, in: bytes, from: start), verdict)
            }
            position = place + 1
        }
    }

    /// A CR at the end may belong to the line end of a delimiter: the lenient search finds only its
    /// LF.
    private func atEnd(
        _ bytes: UnsafeRawBufferPointer, from start: Int
    ) -> (place: Int, verdict: Verdict) {
        guard isLenient, start < bytes.count, unsafe bytes[bytes.count - 1] == 0x0D else {
            return (bytes.count, .none)
        }
        return (bytes.count - 1, .perhaps)
    }

    private func lineEndStart(
        _ place: Int, in bytes: UnsafeRawBufferPointer, from start: Int
    ) -> Int {
        guard isLenient, place > start, unsafe bytes[place - 1] == 0x0D else { return place }
        return place - 1
    }

    private func verdictWithLineEnd(at place: Int, in bytes: UnsafeRawBufferPointer) -> Verdict {
        guard !isLenient else { return unsafe verdict(at: place + 1, in: bytes) }
        guard place + 1 < bytes.count else { return .perhaps }
        guard unsafe bytes[place + 1] == 0x0A else { return .none }
        return unsafe verdict(at: place + 2, in: bytes)
    }

    /// Whether a line begins with a delimiter.
    func verdict(at start: Int, in bytes: UnsafeRawBufferPointer) -> Verdict {
        var position = start
        for _ in 0..<2 {
            guard position < bytes.count else { return .perhaps }
            guard unsafe bytes[position] == 0x2D else { return .none }
            position += 1
        }
        // Check the innermost boundary first, because one boundary may begin with another.
        for level in boundaries.indices.reversed() {
            let verdict = unsafe verdict(ofLevel: level, at: position, in: bytes)
            if verdict != .none { return verdict }
        }
        return .none
    }

    private func verdict(
        ofLevel level: Int, at start: Int, in bytes: UnsafeRawBufferPointer
    ) -> Verdict {
        let boundary = boundaries[level]
        let end = start + boundary.count
        for index in start..<min(end, bytes.count) {
            guard unsafe bytes[index] == boundary[index - start] else { return .none }
        }
        guard end < bytes.count else { return .perhaps }
        let next = unsafe bytes[end]
        if next == 0x2D {
            guard end + 1 < bytes.count else { return .perhaps }
            return unsafe bytes[end + 1] == 0x2D ? .close(level: level, end: end + 2) : .none
        }
        // A line that continues with a boundary character is content. Any other line is a delimiter
        // or a malformed delimiter: readers treat those differently, so they must not pass as
        // content.
        if next != 0x20, MultipartBoundary.isBoundaryByte(next) { return .none }
        return .delimiter(level: level, end: end)
    }
}
