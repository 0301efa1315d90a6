internal import HTTPCodecs

/// A request path in canonical spelling, by which routes and files are found: split first, then
/// each segment decoded once, then `.` and `..` resolved. Access checks must use this spelling,
/// because others can be used to evade them.
package struct CanonicalPath: Hashable, Sendable {
    /// The decoded segments; a path that ends with `/` has an empty one last.
    package private(set) var segments: [[UInt8]]

    /// `nil` if the target has no path, an escape is ill-formed, a segment contains NUL, or the
    /// path rises above its root.
    package init?(_ target: UnsafeRawBufferPointer) {
        segments = []
        guard let path = unsafe Self.path(of: target) else { return nil }
        // Most paths are not deeper. Growing the array step by step would cost more than this.
        segments.reserveCapacity(8)
        var start = 1
        while start <= path.count {
            var end = start
            while end < path.count, unsafe path[end] != UInt8(ascii: "/") { end += 1 }
            let raw = unsafe UnsafeRawBufferPointer(rebasing: path[start..<end])
            guard let segment = unsafe Self.decode(raw) else { return nil }
            guard append(segment, isLast: end == path.count) else { return nil }
            start = end + 1
        }
    }

    /// Appends a segment, and resolves dot segments. Empty segments in the middle are dropped, as
    /// file systems do. An empty last segment stays, because `/a` and `/a/` are different
    /// resources.
    /// - Returns: whether the path stays below its root.
    private mutating func append(_ segment: [UInt8], isLast: Bool) -> Bool {
        switch segment {
        case [], [0x2E]:
            if isLast { segments.append([]) }
        case [0x2E, 0x2E]:
            guard segments.popLast() != nil else { return false }
            if isLast { segments.append([]) }
        default:
            segments.append(segment)
        }
        return true
    }

    /// The path of a target in origin or absolute form, or `nil` for the other forms.
    package static func path(of target: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var start = 0
        guard let first = unsafe target.first else { return nil }
        if first != UInt8(ascii: "/") {
            while start < target.count, unsafe target[start] != UInt8(ascii: "/") { start += 1 }
            guard start + 1 < target.count, unsafe target[start + 1] == UInt8(ascii: "/") else {
                return nil
            }
            let slash = start
            start = unsafe endOfAuthority(target, from: slash + 2)
            // An empty path means the root (RFC 9110 section 4.2.3).
            guard start < target.count, unsafe target[start] == UInt8(ascii: "/") else {
                return unsafe UnsafeRawBufferPointer(rebasing: target[slash...slash])
            }
        }
        var end = start
        while end < target.count, unsafe target[end] != UInt8(ascii: "?") { end += 1 }
        return unsafe UnsafeRawBufferPointer(rebasing: target[start..<end])
    }

    private static func endOfAuthority(_ target: UnsafeRawBufferPointer, from start: Int) -> Int {
        var end = start
        while end < target.count, unsafe target[end] != UInt8(ascii: "/"),
            unsafe target[end] != UInt8(ascii: "?")
        {
            end += 1
        }
        return end
    }

    /// Decodes percent-encoding once (RFC 3986 section 2.1). `nil` for an ill-formed escape, and
    /// for NUL, which ends names in C.
    package static func decode(_ raw: UnsafeRawBufferPointer) -> [UInt8]? {
        guard unsafe raw.contains(UInt8(ascii: "%")) else {
            return unsafe raw.contains(0) ? nil : Array(raw)
        }
        var decoded: [UInt8] = []
        let bytes = unsafe Span<UInt8>(_unsafeBytes: raw)
        guard PercentEncoding.decode(bytes, keepsInvalid: false, into: &decoded) == nil,
            !decoded.contains(0)
        else { return nil }
        return decoded
    }

    /// Whether a path is known to be canonical and can be compared byte by byte: it has no escapes,
    /// no empty segments in the middle and no segments that begin with a dot.
    package static func isCanonical(_ path: UnsafeRawBufferPointer) -> Bool {
        var previous: UInt8 = 0
        for index in 0..<path.count {
            let byte = unsafe path[index]
            if byte == UInt8(ascii: "%") { return false }
            if previous == UInt8(ascii: "/"), byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".")
            {
                return false
            }
            previous = byte
        }
        return unsafe path.first == UInt8(ascii: "/")
    }
}
