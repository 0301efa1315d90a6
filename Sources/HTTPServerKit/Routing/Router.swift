public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Chooses a handler by method and path; the last one added that matches wins.
///
/// Paths are compared in canonical form: percent-decoded segment by segment, `.` and `..` resolved,
/// case-sensitive. Routes without parameters are found by a hash, routes with parameters in a tree
/// of segments, so the number of routes hardly matters. Regular expressions and conditions are
/// tried one after another, the newest first, but only if newer than the match so far.
///
/// A request without a matching route gets 404. A path that exists only with other methods gets 405
/// with Allow, and OPTIONS a generated answer. An unknown method gets 501. A route for GET answers
/// HEAD as well, unless ``mapsHEADToGET`` is off.
///
/// A router is a value: changing it does not change the copy that a server uses.
public struct Router: Handler {
    private var routes = Routes()
    /// Whether a route for GET also answers HEAD, if HEAD has no explicit route. The server omits
    /// the content.
    public var mapsHEADToGET = true
    /// The mounts that depend on each other; `nil` if there are none.
    package var layout: RouterLayout?

    /// Copies of a router share its routes until one of them changes. Routes are mutated only when
    /// uniquely referenced, so accesses cannot overlap.
    private final class Routes: @unchecked Sendable {
        @exclusivity(unchecked)
        private var table: RouteTable
        private let snapshot = LazyReference<RouteTable.Snapshot>()

        init(_ table: consuming RouteTable = RouteTable()) {
            unsafe self.table = table
        }

        /// A copy that can be changed.
        var copy: Routes { unsafe Routes(RouteTable(copying: table)) }

        /// Whether `used` was read. The routes must not change after that.
        var isUsed: Bool { snapshot.load() != nil }

        func add(_ pattern: RoutePattern, _ method: HTTPMethod?, _ handler: some Handler) {
            unsafe table.add(pattern, method, handler)
        }

        /// The immutable routes that answer requests, created at the first use.
        var used: RouteTable.Snapshot {
            snapshot.load()
                ?? snapshot.storeIfNil(unsafe RouteTable.Snapshot(RouteTable(copying: table)))
        }
    }

    /// Creates a router without routes.
    public init() {}

    // MARK: Adding handlers

    /// Adds a handler for one method and path.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - path: segments after slashes, not percent-encoded. `:name` matches one segment, whose
    ///     value is then in `Request.parameters`. `*` also matches one segment. As the last segment
    ///     it matches any rest, which the handler finds in `Request.pathSegments`.
    ///   - handler: the handler.
    public mutating func route(_ method: HTTPMethod?, _ path: String, to handler: some Handler) {
        add(RoutePattern(path), method, handler)
    }

    /// Adds a handler for a path and everything below it, with all methods. The handler finds the
    /// rest of the path in `Request.pathSegments`.
    ///
    /// It answers all requests below its path, whatever the method, unless a route added later
    /// matches. The router therefore never answers 405 below a mount. A mount at `/` that is added
    /// last answers all requests.
    public mutating func mount(_ prefix: String, _ handler: some Handler) {
        add(.prefix(prefix), nil, handler)
    }

    /// Adds a handler for all paths. If it is added first, it answers when no other route does.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - handler: the handler.
    public mutating func route(_ method: HTTPMethod?, to handler: some Handler) {
        add(.condition(ClosureCondition(body: { _ in true })), method, handler)
    }

    /// Adds a handler for the paths that a regular expression matches as a whole.
    ///
    /// The groups of the expression are in `Request.parameters`, by name and by number. The
    /// expression is matched with the percent-decoded path. A path that is not UTF-8, or has a
    /// segment with an encoded slash, never matches.
    /// - Parameters:
    ///   - method: the method, or `nil` for all.
    ///   - expression: the expression; `try PathExpression(text)` makes one from text that is only
    ///     known at run time.
    ///   - handler: the handler.
    public mutating func route(
        _ method: HTTPMethod?, matching expression: PathExpression, to handler: some Handler
    ) {
        add(.condition(RegexCondition(expression: expression)), method, handler)
    }

    /// Adds a handler for the requests for which a condition returns `true`.
    /// - Parameters:
    ///   - condition: decides from the head of a request. It runs on the event loop and must not
    ///     block.
    ///   - handler: the handler.
    public mutating func route(
        where condition: @escaping @Sendable (Request) -> Bool, to handler: some Handler
    ) {
        add(.condition(ClosureCondition(body: condition)), nil, handler)
    }

    /// Adds a handler that decides which requests it answers.
    public mutating func add(_ handler: some SelectiveHandler) {
        route(where: { handler.accepts($0) }, to: handler)
    }

    private mutating func add(
        _ pattern: RoutePattern, _ method: HTTPMethod?, _ handler: some Handler
    ) {
        if !isKnownUniquelyReferenced(&routes) || routes.isUsed { routes = routes.copy }
        routes.add(pattern, method, handler)
    }

    // MARK: Answering

    /// Passes the request to the handler of its route.
    public func answer(_ request: Request) throws -> Answer {
        var routed: Request?
        let routes = routes.used
        guard let route = try routes.table.find(request, mapsHEAD: mapsHEADToGET, &routed) else {
            return .now(try unrouted(request))
        }
        #if Tracing
            if let outer = request[RouteKey.self] {
                request[RouteKey.self] = routes.table.pattern(of: route).text(inside: outer)
            }
        #endif
        guard let routed else { return try routes.table.handlers[route].answer(request) }
        return try routes.table.handlers[route].answer(routed)
    }

    // MARK: Requests without a route

    func unrouted(_ request: Request) throws(HTTPError) -> Response {
        let method = request.method
        if method == .options, request.target.form == .asterisk {
            var fields = layout?.asteriskFields ?? HTTPFields()
            // A route for all methods, such as a mount, answers OPTIONS for its own paths.
            let methods = Set(routes.used.table.methods.compactMap { $0 })
            if !methods.isEmpty { fields.append(.allow, list(methods)) }
            return Response(.noContent, fields: fields)
        }
        let allowed = try routes.used.table.methods(for: request)
        guard !allowed.isEmpty else {
            throw HTTPError(method.isKnown ? .notFound : .notImplemented)
        }
        let fields: HTTPFields = [.allow: list(allowed)]
        if method == .options { return Response(.noContent, fields: fields) }
        throw HTTPError(
            method.isKnown ? .methodNotAllowed : .notImplemented, fields: fields)
    }

    private func list(_ methods: Set<HTTPMethod>) -> String {
        var names = Set(methods.map(\.name))
        if mapsHEADToGET, names.contains("GET") { names.insert("HEAD") }
        names.insert("OPTIONS")
        return names.sorted().joined(separator: ", ")
    }
}
