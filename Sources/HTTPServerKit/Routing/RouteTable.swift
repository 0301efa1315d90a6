internal import HTTPParser
internal import HTTPServerCore

/// The routes of a router, with an array for each property, so that a search touches little memory.
///
/// The table is not copyable and is used in place: a copy for each use would change the reference
/// counts of a dozen objects, from all event loops at the same time.
struct RouteTable: ~Copyable, Sendable {
    /// Routes that no longer change.
    final class Snapshot: Sendable {
        let table: RouteTable

        init(_ table: consuming RouteTable) {
            self.table = table
        }
    }

    private var patterns: [RoutePattern] = []
    /// `nil` for all methods.
    private(set) var methods: [HTTPMethod?] = []
    private(set) var handlers: [any Handler] = []
    /// For each route, the value of `RoutePattern.takesFromPath`.
    private var takesFromPath: [Bool] = []
    /// The routes with parameters or prefixes.
    private var tree = RouteTree()
    /// The routes with conditions, in the order in which they were added.
    private var conditions: [Int] = []
    /// The newest route of each literal path: a hash table with open addressing and linear probing.
    /// Its size is a power of two; -1 marks a free slot.
    private var newest: [Int] = Array(repeating: -1, count: 16)
    private var used = 0
    /// The paths of all literal routes, concatenated, and the range of each route's path. Comparing
    /// with them changes no reference counts.
    private var paths: [UInt8] = []
    private var pathRanges: [Range<Int>?] = []
    /// The hash of each route's path, and the next older route of the same path, or -1.
    private var hashes: [UInt64] = []
    private var older: [Int] = []

    init() {}

    #if Tracing
        /// The pattern of a route.
        func pattern(of route: Int) -> RoutePattern { patterns[route] }
    #endif

    /// A copy of the routes that can be changed independently.
    init(copying other: borrowing RouteTable) {
        (patterns, methods, handlers) = (other.patterns, other.methods, other.handlers)
        (tree, conditions, newest) = (other.tree, other.conditions, other.newest)
        (used, hashes, older) = (other.used, other.hashes, other.older)
        (paths, pathRanges) = (other.paths, other.pathRanges)
        takesFromPath = other.takesFromPath
    }

    mutating func add(_ pattern: RoutePattern, _ method: HTTPMethod?, _ handler: some Handler) {
        let route = patterns.count
        patterns.append(pattern)
        methods.append(method)
        handlers.append(handler)
        takesFromPath.append(pattern.takesFromPath)
        hashes.append(0)
        older.append(-1)
        pathRanges.append(nil)
        switch pattern {
        case .segments(let segments, let hasRest): tree.add(route, segments, hasRest: hasRest)
        case .condition: conditions.append(route)
        case .literal(let path): addLiteral(route, path)
        }
    }

    private mutating func addLiteral(_ route: Int, _ path: [UInt8]) {
        if used * 2 >= newest.count { grow() }
        pathRanges[route] = paths.count..<(paths.count + path.count)
        paths += path
        hashes[route] = unsafe Self.hash(path.span.bytes)
        let slot = unsafe slot(of: path.span.bytes, hash: hashes[route])
        if newest[slot] < 0 { used += 1 }
        older[route] = newest[slot]
        newest[slot] = route
    }

    private mutating func grow() {
        let routes = newest.filter { $0 >= 0 }
        newest = Array(repeating: -1, count: newest.count * 2)
        for route in routes {
            guard let range = pathRanges[route] else { continue }
            let slot = unsafe slot(of: paths.span.bytes.extracting(range), hash: hashes[route])
            newest[slot] = route
        }
    }

    /// The slot of a path, or the free slot for it.
    private func slot(of path: RawSpan, hash: UInt64) -> Int {
        let mask = newest.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while newest[slot] >= 0 {
            let route = newest[slot]
            if hashes[route] == hash, isLiteral(route, path) { break }
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func isLiteral(_ route: Int, _ path: RawSpan) -> Bool {
        guard let range = pathRanges[route] else { return false }
        return unsafe paths.span.bytes.extracting(range).equals(path)
    }

    /// The FNV-1a hash. The program chooses the paths of routes, so no attacker can make them
    /// collide.
    private static func hash(_ bytes: RawSpan) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in 0..<bytes.byteCount {
            hash = (hash ^ UInt64(bytes.byte(at: index))) &* 0x100_0000_01B3
        }
        return hash ^ hash >> 32
    }

    // MARK: Finding

    /// The route that answers a request: the newest that matches path and method. With `mapsHEAD`,
    /// the newest matching route for HEAD answers HEAD, unless a newer one answers all methods.
    /// Without such a route, the route that would answer GET does.
    /// - Parameters:
    ///   - request: the request to find a route for.
    ///   - mapsHEAD: whether routes for GET answer HEAD.
    ///   - routed: set to a copy of the request with the route's parameters and mount depth; stays
    ///     `nil` if the route sets none, which saves most requests the copy.
    /// - Returns: the index of the route; `nil` if no route matches.
    /// - Throws: 400 for a path that cannot be decoded.
    func find(
        _ request: Request, mapsHEAD: Bool, _ routed: inout Request?
    ) throws(HTTPError) -> Int? {
        let method = request.method
        guard method == .head, mapsHEAD else {
            return try match(request, &routed) { $0 == nil || $0 == method }
        }
        if let route = try match(request, &routed, { $0 == nil || $0 == .head }),
            methods[route] == .head
        {
            return route
        }
        routed = nil
        return try match(request, &routed) { $0 == nil || $0 == .get }
    }

    /// The methods of the routes that match the request's path.
    func methods(for request: Request) throws(HTTPError) -> Set<HTTPMethod> {
        var found: Set<HTTPMethod> = []
        var routed: Request?
        while let route = try match(
            request, &routed, { method in method.map { !found.contains($0) } ?? false }),
            let method = methods[route]
        {
            found.insert(method)
        }
        return found
    }

    private func match(
        _ request: Request, _ routed: inout Request?, _ accepts: (HTTPMethod?) -> Bool
    ) throws(HTTPError) -> Int? {
        let path = RoutingPath(request)
        if path?.isValid == false { throw HTTPError(.badRequest, "the path cannot be decoded") }
        var best = -1
        if let path {
            if path.isPlain { best = literalMatch(path, request, accepts) }
            if tree.newest > best { best = treeMatch(path, request, above: best, accepts) }
        }
        var index = conditions.count - 1
        while index >= 0, conditions[index] > best {
            let route = conditions[index]
            if accepts(methods[route]), case .condition(let condition) = patterns[route] {
                var tried = request
                if condition.matches(path, &tried) {
                    routed = tried
                    return route
                }
            }
            index -= 1
        }
        guard best >= 0 else { return nil }
        if let path, takesFromPath[best] {
            var captured = request
            patterns[best].capture(from: path, into: &captured)
            routed = captured
        }
        return best
    }

    private func treeMatch(
        _ path: RoutingPath, _ request: Request, above best: Int, _ accepts: (HTTPMethod?) -> Bool
    ) -> Int {
        // A closure that captured the table would change all its reference counts.
        let (tree, methods) = (tree, methods)
        return path.withBytes(of: request) { bytes in
            tree.newest(bytes, path.segments, above: best) { accepts(methods[$0]) }
        }
    }

    /// The newest route without parameters that matches, or -1.
    private func literalMatch(
        _ path: RoutingPath, _ request: Request, _ accepts: (HTTPMethod?) -> Bool
    ) -> Int {
        guard used > 0 else { return -1 }
        return path.withBytes(of: request) { bytes in
            var route = newest[slot(of: bytes, hash: Self.hash(bytes))]
            while route >= 0, !accepts(methods[route]) { route = older[route] }
            return route
        }
    }
}
