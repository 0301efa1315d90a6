internal import HTTPParser
internal import HTTPServerCore

/// The requests that a route answers, apart from the method.
enum RoutePattern: Sendable {
    enum Segment: Sendable {
        case literal([UInt8])
        /// Any non-empty segment; its value is stored under the name, if there is one.
        case parameter(String?)
    }

    /// One path, in canonical spelling.
    case literal([UInt8])
    /// These segments, and with `hasRest` any segments after them.
    case segments([Segment], hasRest: Bool)
    /// The requests for which the condition holds.
    case condition(any RouteCondition)

    init(_ path: String) {
        precondition(path.hasPrefix("/"), "a route's path begins with a slash: \(path)")
        var parts = Self.split(path)
        let star: [UInt8] = [UInt8(ascii: "*")]
        guard parts.contains(where: { $0.first == UInt8(ascii: ":") || $0 == star }) else {
            self = .literal(Array(path.utf8))
            return
        }
        let hasRest = parts.last == star
        if hasRest { parts.removeLast() }
        let segments = parts.map { part in
            if part == star { return Segment.parameter(nil) }
            guard part.first == UInt8(ascii: ":") else { return .literal(part) }
            return .parameter(String(decoding: part.dropFirst(), as: UTF8.self))
        }
        self = .segments(segments, hasRest: hasRest)
    }

    /// A path, with or without a leading slash, and everything below it.
    static func prefix(_ path: String) -> RoutePattern {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"))
        return .segments(parts.map { .literal(Array($0)) }, hasRest: true)
    }

    private static func split(_ path: String) -> [[UInt8]] {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return parts.dropFirst().map(Array.init)
    }

    #if Tracing
        /// The pattern as it was written, after the pattern of the mount around it. For a
        /// condition, only the pattern of the mount.
        func text(inside outer: String) -> String {
            let start = outer.hasSuffix("/*") ? String(outer.dropLast(2)) : ""
            switch self {
            case .literal(let path): return start + String(decoding: path, as: UTF8.self)
            case .segments(let segments, let hasRest):
                let parts = segments.map { segment in
                    switch segment {
                    case .literal(let text): String(decoding: text, as: UTF8.self)
                    case .parameter(let name): name.map { ":\($0)" } ?? "*"
                    }
                }
                return start + (parts + (hasRest ? ["*"] : [])).map { "/\($0)" }.joined()
            case .condition: return outer
            }
        }
    #endif

    /// Whether a match may set parameters or the mount depth of the request.
    var takesFromPath: Bool {
        if case .segments(let pattern, _) = self { !pattern.isEmpty } else { false }
    }

    /// Stores the parameters of a matching path, and the mount depth, in the request.
    func capture(from path: RoutingPath, into request: inout Request) {
        guard case .segments(let pattern, let hasRest) = self else { return }
        if hasRest { request.mountDepth += pattern.count }
        let isNaming = pattern.contains { if case .parameter(_?) = $0 { true } else { false } }
        guard isNaming else { return }
        var parameters = request.parameters
        path.withBytes(of: request) { bytes in
            var segments = path.segments
            for part in pattern {
                guard let range = segments.next(in: bytes) else { break }
                guard case .parameter(let name?) = part else { continue }
                parameters.set(name, bytes.text(range))
            }
        }
        request.parameters = parameters
    }
}

/// Decides from the request whether a route answers it.
protocol RouteCondition: Sendable {
    /// Whether the route answers the request. May store parameters in the request.
    func matches(_ path: RoutingPath?, _ request: inout Request) -> Bool
}

/// A condition that a closure decides.
struct ClosureCondition: RouteCondition {
    let body: @Sendable (Request) -> Bool

    func matches(_ path: RoutingPath?, _ request: inout Request) -> Bool { body(request) }
}
