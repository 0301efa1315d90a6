public import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// Chooses a handler by method and path; the last one added that matches wins.
///
/// Paths are compared in canonical form: percent-decoded segment by segment, `.` and `..` resolved;
/// case counts. Routes without parameters are found by a hash, those with parameters in a tree of
/// segments, however many there are. Regular expressions and conditions are tried one after the
/// other, the newest first, but only if newer than the match so far. A request without a matching
/// route gets 404; a path that exists with other methods gets 405 with Allow, and a generated
/// answer to OPTIONS; an unknown method gets 501. A route for GET answers HEAD as well, unless
/// ``mapsHEADToGET`` is off.
///
/// A router is a value: a copy taken by a server does not change any more.
public struct Router: Handler {
    private var routes = Routes()
    /// Whether a route for GET also answers HEAD, if HEAD has no explicit route. The server leaves
    /// the content out.
    public var mapsHEADToGET = true
    /// The record of mounts that have to know each other.
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

        /// The same routes, to be changed.
        var copy: Routes { unsafe Routes(RouteTable(copying: table)) }

        /// Whether they were used, after which they do not change.
        var isUsed: Bool { snapshot.load() != nil }

        func add(_ pattern: RoutePattern, _ method: HTTPMethod?, _ handler: some Handler) {
            unsafe table.add(pattern, method, handler)
        }

        /// The routes as they are from now on.
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
    ///   - path: segments after slashes, not percent-encoded. `:name` matches one segment, which
    ///     `Request.parameters` then holds. `*` matches one segment, too; as the last segment it
    ///     matches any rest, which the handler finds in `Request.pathSegments`.
    ///   - handler: the handler.
    public mutating func route(_ method: HTTPMethod?, _ path: String, to handler: some Handler) {
        add(RoutePattern(path), method, handler)
    }

    /// Adds a handler of a path and everything below it, with all methods. The handler sees the
    /// rest of the path in `Request.pathSegments`.
    ///
    /// It answers all requests there that no route added later matches, whatever the method. The
    /// router never answers 405 there. A mount at `/` that is added last answers everything.
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
    /// The groups of the expression are in `Request.parameters`, by name and by number. It sees the
    /// path percent-decoded. A path that is not UTF-8, or in which a segment holds an encoded
    /// slash, has no text that it could match.
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

    /// Adds a handler for the requests that a condition picks.
    /// - Parameters:
    ///   - condition: looks at the head of a request and decides. It runs on the event loop and
    ///     must not block.
    ///   - handler: the handler.
    public mutating func route(
        where condition: @escaping @Sendable (Request) -> Bool, to handler: some Handler
    ) {
        add(.condition(ClosureCondition(body: condition)), nil, handler)
    }

    /// Adds a handler that decides itself which requests it answers.
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

    /// Answers by the route's handler.
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
