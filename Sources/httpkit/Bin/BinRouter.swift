import HTTPCodecs
import HTTPParser
package import HTTPServerCore
internal import HTTPServerKit

/// The endpoints of httpbin, on this toolkit's server: what a client sends comes back as JSON, and
/// each kind of answer that it has to understand has a path.
///
/// <!-- snippet: not compiled: a type of the program, which no library has -->
/// ```swift
/// let server = HTTPServer(ServerConfiguration(port: 0), handler: BinRouter())
/// ```
///
/// Names of paths, members of JSON and statuses are those of httpbin, so that tests written for
/// httpbin run against this server, without a network. Content that is sent back is limited by
/// ``contentLimit``, generated content by ``generatedLimit``, delays by ``longestDelay``.
package struct BinRouter: Handler {
    /// The most bytes of a request that are sent back.
    package static let contentLimit = 32 << 20
    /// The most bytes that a path generates; larger numbers are reduced to it.
    package static let generatedLimit = 100 << 20
    /// The longest delay of an answer, in seconds.
    package static let longestDelay = 10.0

    /// An endpoint as the index shows it.
    struct Entry {
        var methods: String
        var path: String
        var text: String
        /// A target that a browser can open; `nil` for none.
        var example: String?
    }

    /// Endpoints that belong together.
    struct Group {
        var title: String
        var entries: [Entry] = []
    }

    private var router = Router()
    private(set) var groups: [Group] = []

    /// Creates the endpoints.
    /// - Parameter torturePort: the port at the same host with unusual and malformed answers, to
    ///   which the index links; `nil` without one.
    package init(torturePort: UInt16? = nil) {
        addEchoes()
        addStatuses()
        addRedirects()
        addCookies()
        addAuthentication()
        addCaching()
        addGeneratedContent()
        addDelays()
        addCodings()
        addImages()
        addDocuments()
        addMessageParts()
        addWebSocket()
        guard let torturePort else {
            let page = BinIndex.page(groups, torture: nil)
            router.route(.get, "/", to: ContentHandler(page, mediaType: .html))
            return
        }
        router.route(
            .get, "/",
            to: SyncHandler { [groups] request in
                // Uses the host that the browser knows, because it may be unable to connect to the
                // address that the server listens at.
                let address = "http://\(Self.host(of: request)):\(torturePort)/"
                return .html(BinIndex.page(groups, torture: address))
            })
    }

    private static func host(of request: Request) -> String {
        guard let field = request.fields[.host] else {
            let host = request.local.host
            return host.contains(":") ? "[\(host)]" : host
        }
        if let end = field.firstIndex(of: "]") { return String(field[...end]) }
        return String(field.prefix { $0 != ":" })
    }

    /// Answers with the endpoint of the path.
    package func answer(_ request: Request) throws -> Answer {
        try InterceptingHandler(router, after: Self.finish).answer(request)
    }

    /// The fields that each answer has, errors included.
    private static func finish(_ request: Request, _ response: inout Response) {
        // Content from a query must not run as a page of this server.
        response.fields[.xContentTypeOptions] = "nosniff"
        response.fields.append("Content-Security-Policy", "sandbox allow-forms")
        // Pages of any origin may read answers, as with httpbin.
        response.fields["Access-Control-Allow-Origin"] = request.fields[.origin] ?? "*"
        response.fields["Access-Control-Allow-Credentials"] = "true"
        guard request.method == .options else { return }
        response.fields["Access-Control-Allow-Methods"] =
            "GET, POST, PUT, DELETE, PATCH, OPTIONS"
        response.fields["Access-Control-Max-Age"] = "3600"
        if let names = request.fields["Access-Control-Request-Headers"] {
            response.fields["Access-Control-Allow-Headers"] = names
        }
    }

    // MARK: Adding endpoints

    mutating func group(_ title: String) {
        groups.append(Group(title: title))
    }

    /// Adds an endpoint that answers without waiting.
    /// - Parameters:
    ///   - methods: the methods; `nil` for all.
    ///   - path: the path, with parameters.
    ///   - text: the description in the index; empty to leave the endpoint out.
    ///   - example: a target for the index; by default the path, if it has no parameter.
    ///   - respond: makes the response.
    mutating func answer(
        _ methods: [HTTPMethod]?, _ path: String, _ text: String, example: String? = nil,
        respond: @escaping @Sendable (Request) throws -> Response
    ) {
        list(methods, path, text, example)
        for method in methods.map({ $0.map(Optional.some) }) ?? [nil] {
            router.route(method, path, to: SyncHandler(respond))
        }
    }

    /// Adds an endpoint that waits for content or for time to pass.
    mutating func wait(
        _ methods: [HTTPMethod]?, _ path: String, _ text: String, example: String? = nil,
        respond: @escaping @Sendable (Request) async throws -> Response
    ) {
        list(methods, path, text, example)
        for method in methods.map({ $0.map(Optional.some) }) ?? [nil] {
            router.route(method, path, to: AsyncHandler(respond))
        }
    }

    private mutating func list(
        _ methods: [HTTPMethod]?, _ path: String, _ text: String, _ example: String?
    ) {
        guard !text.isEmpty else { return }
        let names = methods.map { $0.map(\.name).joined(separator: " ") } ?? "any"
        let isPlain = !path.contains(":") && !path.contains("*")
        let canBeOpened = methods?.contains(.get) ?? true
        let target = example ?? (isPlain && canBeOpened ? path : nil)
        groups[groups.count - 1].entries.append(
            Entry(methods: names, path: path, text: text, example: target))
    }
}

extension Request {
    /// A parameter of the path; empty if the route has none with this name.
    func parameter(_ name: String) -> String { parameters[name] ?? "" }

    /// A number that is part of the path, digits only.
    /// - Throws: 404 for anything else, because no such path exists.
    func number(_ name: String) throws(HTTPError) -> Int {
        guard let number = FieldValues.parseDecimal(parameter(name)) else {
            throw HTTPError(.notFound)
        }
        return Int(number)
    }

    /// A number of the query.
    /// - Throws: 400 if the value is not a number.
    func number(inQuery name: String) throws(HTTPError) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = FieldValues.parseDecimal(text) else {
            throw HTTPError(.badRequest, "\(name) takes a number")
        }
        return Int(number)
    }

    /// A time of the query in seconds, from 0 to ``BinRouter/longestDelay``.
    /// - Throws: 400 if the value is not such a number.
    func seconds(inQuery name: String) throws(HTTPError) -> Double? {
        guard let text = query[name] else { return nil }
        guard let seconds = Double(text), seconds >= 0 else {
            throw HTTPError(.badRequest, "\(name) takes a number of seconds")
        }
        return min(seconds, BinRouter.longestDelay)
    }
}
