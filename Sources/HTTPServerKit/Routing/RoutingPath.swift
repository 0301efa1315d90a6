internal import HTTPParser
internal import HTTPServerCore

/// The path of a request, in the form in which routes compare it. Most paths arrive in canonical
/// form and are compared in place; others are decoded first.
struct RoutingPath {
    /// The decoded path after the mount point; `nil` if the bytes of the request are used.
    private var rewritten: [UInt8]?
    /// The ranges of the segments in `rewritten`.
    private var bounds: [Range<Int>] = []
    /// The offset of the path after the mount point in the bytes of the request's path.
    private var start = 0
    /// Whether the path can be decoded.
    private(set) var isValid = true
    /// Whether the path can be written without escapes. A path with a decoded slash inside of a
    /// segment cannot, because that slash would look like a separator.
    private(set) var isPlain = true

    /// `nil` for targets without a path: `*` and `host:port`.
    init?(_ request: borrowing Request) {
        guard let path = unsafe CanonicalPath.path(of: request.targetBytes) else { return nil }
        if unsafe CanonicalPath.isCanonical(path) {
            start = unsafe Self.end(of: request.mountDepth, in: path)
            // To a mounted router, its mount point is the root.
            if start == path.count { rewrite([[]]) }
            return
        }
        guard let segments = request.pathSegments else {
            isValid = false
            return
        }
        rewrite(segments.isEmpty ? [[]] : segments)
    }

    /// The index of the slash after the first `depth` segments of a canonical path, or its end.
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

    /// The segments of the bytes that `withBytes(of:_:)` lends.
    var segments: PathSegments { PathSegments(bounds: rewritten == nil ? nil : bounds) }

    /// The path as text; `nil` when it is not plain or not UTF-8.
    func text(of request: Request) -> String? {
        guard isPlain else { return nil }
        return withBytes(of: request) { $0.text(0..<$0.byteCount) }
    }
}

/// The remaining segments of a path. They are found one by one, because the first segment decides
/// most routes.
struct PathSegments {
    /// The ranges of all segments; `nil` if each slash in the path is a separator.
    private let bounds: [Range<Int>]?
    /// The index of the next range in `bounds`, or the offset of the next segment in the path.
    private var position: Int

    init(bounds: [Range<Int>]?) {
        self.bounds = bounds
        position = bounds == nil ? 1 : 0
    }

    /// The range of the next segment; `nil` after the last.
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

    /// Negative, zero or positive, if the bytes of a range are less than, equal to or greater than
    /// `other` in lexicographic order.
    func order(_ range: Range<Int>, _ other: [UInt8]) -> Int {
        for index in 0..<min(range.count, other.count) {
            let difference = Int(byte(at: range.lowerBound + index)) - Int(other[index])
            if difference != 0 { return difference }
        }
        return range.count - other.count
    }

    /// The bytes of a range as text; `nil` if they are not UTF-8.
    func text(_ range: Range<Int>) -> String? {
        unsafe extracting(range).withUnsafeBytes { bytes in
            unsafe String(validating: bytes, as: UTF8.self)
        }
    }
}
