internal import HTTPParser

/// The path of a request as routes compare it. Most paths are canonical as they came and are
/// compared in place; others are taken apart first.
struct RoutingPath {
    /// `nil` while the bytes of the request serve.
    private var rewritten: [UInt8]?
    private var below: [[UInt8]]?
    private(set) var isValid = true

    /// `nil` for targets without a path: `*` and `host:port`.
    init?(_ request: Request) {
        guard let path = unsafe CanonicalPath.path(of: request.targetBytes) else { return nil }
        if request.mountDepth == 0, unsafe CanonicalPath.isCanonical(path) { return }
        guard var segments = request.pathSegments else {
            isValid = false
            return
        }
        // A router that is mounted somewhere sees its mount point as its root.
        if segments.isEmpty { segments = [[]] }
        below = segments
        // A decoded slash inside of a segment must not look like a separator, so such a path has
        // no literal spelling.
        if segments.contains(where: { $0.contains(UInt8(ascii: "/")) }) {
            rewritten = []
        } else {
            rewritten = segments.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 }
        }
    }

    func withBytes<Result>(of request: Request, _ body: (RawSpan) -> Result) -> Result {
        if let rewritten { return unsafe body(rewritten.span.bytes) }
        let path = unsafe CanonicalPath.path(of: request.targetBytes)
        let bytes = unsafe path ?? UnsafeRawBufferPointer(start: nil, count: 0)
        return body(unsafe bytes.bytes)
    }

    func segments(of request: Request) -> [[UInt8]] {
        below ?? request.pathSegments ?? []
    }
}

/// Which paths a route answers.
enum RoutePattern: Sendable {
    enum Segment: Sendable {
        case literal([UInt8])
        case parameter(String)
        case rest
    }

    /// One path, in canonical spelling.
    case literal([UInt8])
    /// One segment after the other.
    case segments([Segment])
    /// A path and everything below it.
    case prefix([[UInt8]])

    init(_ path: String) {
        precondition(path.hasPrefix("/"), "a route's path begins with a slash: \(path)")
        let parts = Self.split(path)
        let isPlain = parts.allSatisfy {
            $0.first != UInt8(ascii: ":") && $0 != [UInt8(ascii: "*")]
        }
        guard !isPlain else {
            self = .literal(Array(path.utf8))
            return
        }
        self = .segments(
            parts.map { part in
                if part == [UInt8(ascii: "*")] { return .rest }
                guard part.first == UInt8(ascii: ":") else { return .literal(part) }
                return .parameter(String(decoding: part.dropFirst(), as: UTF8.self))
            })
    }

    static func split(_ path: String) -> [[UInt8]] {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.dropFirst().map(Array.init)
    }

    /// Whether the path matches; parameters and mount depth go into the request.
    func matches(_ path: RoutingPath, _ request: inout Request) -> Bool {
        switch self {
        case .literal: return false
        case .segments(let pattern):
            return Self.matches(pattern, path.segments(of: request), &request)
        case .prefix(let prefix):
            guard prefix.isEmpty || path.segments(of: request).starts(with: prefix) else {
                return false
            }
            request.mountDepth += prefix.count
            return true
        }
    }

    private static func matches(
        _ pattern: [Segment], _ segments: [[UInt8]], _ request: inout Request
    ) -> Bool {
        var parameters = PathParameters()
        for (index, part) in pattern.enumerated() {
            if case .rest = part {
                request.parameters = parameters
                request.mountDepth += index
                return index <= segments.count
            }
            guard index < segments.count else { return false }
            switch part {
            case .literal(let own):
                guard own == segments[index] else { return false }
            case .parameter(let name):
                guard !segments[index].isEmpty,
                    let value = String(validating: segments[index], as: UTF8.self)
                else { return false }
                parameters.pairs[name] = value
            case .rest: break
            }
        }
        guard pattern.count == segments.count else { return false }
        request.parameters = parameters
        return true
    }
}
