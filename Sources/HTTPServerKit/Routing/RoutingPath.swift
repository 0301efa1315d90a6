internal import HTTPParser
internal import HTTPServerCore

/// The path of a request as routes compare it. Most paths are canonical as they came and are
/// compared in place; others are taken apart first.
struct RoutingPath {
    /// `nil` while the bytes of the request serve.
    private var rewritten: [UInt8]?
    /// Where the segments of `rewritten` stand.
    private var bounds: [Range<Int>] = []
    /// Where the path behind the mount point begins in the bytes of the request.
    private var start = 0
    /// Whether the path can be decoded.
    private(set) var isValid = true
    /// Whether the path can be written without escapes. A decoded slash inside of a segment would
    /// look like a separator, so such a path has no spelling that a text could be compared with.
    private(set) var isPlain = true

    /// `nil` for targets without a path: `*` and `host:port`.
    init?(_ request: borrowing Request) {
        guard let path = unsafe CanonicalPath.path(of: request.targetBytes) else { return nil }
        if unsafe CanonicalPath.isCanonical(path) {
            start = unsafe Self.end(of: request.mountDepth, in: path)
            // A router that is mounted somewhere sees its mount point as its root.
            if start == path.count { rewrite([[]]) }
            return
        }
        guard let segments = request.pathSegments else {
            isValid = false
            return
        }
        rewrite(segments.isEmpty ? [[]] : segments)
    }

    /// The index of the slash behind the first segments of a canonical path, or its end.
    private static func end(of depth: Int, in path: UnsafeRawBufferPointer) -> Int {
        var index = 0
        for _ in 0..<depth {
            index += 1
            while index < path.count, unsafe path[index] != UInt8(ascii: "/") { index += 1 }
        }
        return min(index, path.count)
    }

    private mutating func rewrite(_ segments: [[UInt8]]) {
        var text: [UInt8] = []
        for segment in segments {
            text.append(UInt8(ascii: "/"))
            bounds.append(text.count..<(text.count + segment.count))
            text += segment
            if segment.contains(UInt8(ascii: "/")) { isPlain = false }
        }
        rewritten = text
    }

    func withBytes<Result>(of request: Request, _ body: (RawSpan) -> Result) -> Result {
        if let rewritten { return unsafe body(rewritten.span.bytes) }
        let path = unsafe CanonicalPath.path(of: request.targetBytes)
        guard let path = unsafe path, start <= path.count else { return body(RawSpan()) }
        return body(unsafe UnsafeRawBufferPointer(rebasing: path[start...]).bytes)
    }

    /// Where the segments stand in the bytes of `withBytes(of:_:)`.
    var segments: PathSegments { PathSegments(bounds: rewritten == nil ? nil : bounds) }

    /// The path as text; `nil` when it is not plain or not UTF-8.
    func text(of request: Request) -> String? {
        guard isPlain else { return nil }
        return withBytes(of: request) { $0.text(0..<$0.byteCount) }
    }
}

/// The segments of a path that were not looked at yet: found one by one, because most routes are
/// found by the first.
struct PathSegments {
    /// Where they stand; `nil` if a slash in the path is always a separator.
    private let bounds: [Range<Int>]?
    /// The index of the next one in `bounds`, or the offset of its first byte in the path.
    private var position: Int

    init(bounds: [Range<Int>]?) {
        self.bounds = bounds
        position = bounds == nil ? 1 : 0
    }

    /// The place of the next segment; `nil` behind the last.
    mutating func next(in path: RawSpan) -> Range<Int>? {
        if let bounds {
            guard position < bounds.count else { return nil }
            defer { position += 1 }
            return bounds[position]
        }
        guard position <= path.byteCount else { return nil }
        let start = position
        var end = start
        while end < path.byteCount, path.byte(at: end) != UInt8(ascii: "/") { end += 1 }
        position = end + 1
        return start..<end
    }
}

extension RawSpan {
    func byte(at offset: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    func equals(_ other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        for index in 0..<byteCount where byte(at: index) != other.byte(at: index) { return false }
        return true
    }

    /// Below, at or above zero, as the bytes of a range come before, are, or come after others.
    func order(_ range: Range<Int>, _ other: [UInt8]) -> Int {
        for index in 0..<min(range.count, other.count) {
            let difference = Int(byte(at: range.lowerBound + index)) - Int(other[index])
            if difference != 0 { return difference }
        }
        return range.count - other.count
    }

    /// The bytes of a range as text; `nil` when they are not UTF-8.
    func text(_ range: Range<Int>) -> String? {
        unsafe extracting(range).withUnsafeBytes { bytes in
            unsafe String(validating: bytes, as: UTF8.self)
        }
    }
}
