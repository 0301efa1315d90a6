#if Tracing
    internal import HTTPParser
    public import HTTPServerCore
    internal import ToolkitSystem
    public import Tracing

    /// Creates a span for each request. Requires the package trait `Tracing`.
    ///
    /// <!-- snippet: not compiled: it needs the trait -->
    /// ```swift
    /// let server = HTTPServer(ServerConfiguration(port: 8080), handler: TracingHandler(router))
    /// ```
    ///
    /// The tracer extracts the caller's context from fields such as `traceparent` (W3C Trace
    /// Context). Handlers and the producers of streams find the span's context in
    /// `ServiceContext.current`. A client can name any trace: let a proxy remove these fields if
    /// clients are not trusted. The span ends when the answer was sent or has failed. Names and
    /// attributes are those of OpenTelemetry's semantic conventions for HTTP servers, version 1.23
    /// and later:
    ///
    /// | Attribute | Value |
    /// |---|---|
    /// | `http.request.method` | the method; `_OTHER` for an unknown one, in `http.request.method_original` |
    /// | `http.route` | the router's pattern; the span is named by method and route |
    /// | `http.response.status_code` | the status; from 500 on the span is an error |
    /// | `url.scheme`, `url.path`, `url.query` | the target; the query only with `recordsQueries` |
    /// | `server.address`, `server.port` | the host that the request names |
    /// | `client.address`, `network.peer.address`, `network.peer.port` | the client, and the socket's peer |
    /// | `network.protocol.version`, `user_agent.original` | `1.1`, and User-Agent |
    /// | `error.type` | the status from 500 on, or the reason why the answer was cut short |
    public struct TracingHandler: Handler {
        private let inner: any Handler
        private let tracer: (any Tracer)?
        private let recordsQueries: Bool

        /// Creates a handler.
        /// - Parameters:
        ///   - handler: the inner handler.
        ///   - tracer: the tracer of the spans; `nil` for that of `InstrumentationSystem`.
        ///   - recordsQueries: whether spans contain the queries of targets, which may contain
        ///     secrets.
        public init(
            _ handler: some Handler, tracer: (any Tracer)? = nil, recordsQueries: Bool = false
        ) {
            inner = handler
            self.tracer = tracer
            self.recordsQueries = recordsQueries
        }

        /// Answers with the inner handler's answer, within a span.
        public func answer(_ request: Request) throws -> Answer {
            let tracer = tracer ?? InstrumentationSystem.tracer
            var context = ServiceContext.current ?? .topLevel
            tracer.extract(request.fields, into: &context, using: FieldExtractor())
            let span = tracer.startSpan(
                request.spanName, context: context, ofKind: .server)
            if span.isRecording { describe(request, on: span) }
            request[RouteKey.self] = ""
            request.whenAnswered { _, failure in
                if let failure { Self.fail(span, "\(failure)") }
                span.end()
            }
            return try ServiceContext.$current.withValue(span.context) {
                inner.renderedAnswer(to: request)
            }.within(span.context).changing { [request] in Self.note($0, to: request, on: span) }
        }

        private func describe(_ request: Request, on span: any Span) {
            span.updateAttributes { attributes in
                attributes["http.request.method"] = request.method.spanAttribute
                if !request.method.isKnown {
                    attributes["http.request.method_original"] = request.method.name
                }
                attributes["url.scheme"] = request.scheme
                attributes["url.path"] = request.originalTarget.path
                if recordsQueries { attributes["url.query"] = request.originalTarget.query }
                if let host = request.host {
                    let (name, port) = Self.split(host)
                    attributes["server.address"] = name
                    attributes["server.port"] = port
                }
                attributes["client.address"] = request.peer.host
                attributes["network.peer.address"] = request.connection.peer.host
                attributes["network.peer.port"] = request.connection.peer.port.map { Int($0) }
                attributes["network.protocol.version"] =
                    request.version >= .http11 ? "1.1" : "1.0"
                attributes["user_agent.original"] = request.fields[.userAgent]
            }
        }

        private static func note(_ response: Response, to request: Request, on span: any Span) {
            let code = Int(response.status.code)
            span.attributes["http.response.status_code"] = code
            if let route = request[RouteKey.self], !route.isEmpty {
                span.attributes["http.route"] = route
                span.operationName = "\(request.spanName) \(route)"
            }
            if code >= 500 { fail(span, "\(code)") }
        }

        private static func fail(_ span: any Span, _ type: String) {
            span.attributes["error.type"] = type
            span.setStatus(SpanStatus(code: .error))
        }

        /// Host and port of an authority; `nil` for a missing port.
        private static func split(_ authority: String) -> (host: String, port: Int?) {
            guard let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = Int(authority[authority.utf8.index(after: colon)...])
            else { return (authority, nil) }
            return (String(authority[..<colon]), port)
        }
    }

    /// The pattern of the route that was found. Set only if a `TracingHandler` needs it.
    enum RouteKey: RequestKey { typealias Value = String }

    /// Reads the fields that a tracer asks for.
    private struct FieldExtractor: Extractor {
        func extract(key: String, from fields: RequestFields) -> String? {
            HTTPFieldName(key).flatMap { fields.list($0) }
        }
    }

    extension HTTPMethod {
        fileprivate var spanAttribute: String { isKnown ? name : "_OTHER" }
    }

    extension Request {
        fileprivate var spanName: String { method.isKnown ? method.name : "HTTP" }
    }

    extension Answer {
        /// The same answer, computed within a context.
        fileprivate func within(_ context: ServiceContext) -> Answer {
            switch self {
            case .now(let response): return .now(response.within(context))
            case .later(let work):
                return .later {
                    try await ServiceContext.$current.withValue(context) {
                        try await work().within(context)
                    }
                }
            case .laterFor(let request, let work):
                return .laterFor(request) { request in
                    try await ServiceContext.$current.withValue(context) {
                        try await work(request).within(context)
                    }
                }
            case .whenCollected(let limit, let body):
                return .whenCollected(limit: limit) { content in
                    try ServiceContext.$current.withValue(context) {
                        try body(content).within(context)
                    }
                }
            }
        }
    }

    extension Response {
        /// The same response, whose stream's producer runs within a context.
        fileprivate func within(_ context: ServiceContext) -> Response {
            guard case .stream(let length, let producer) = body.content else { return self }
            var response = self
            response.body.content = .stream(length: length) { writer in
                try await ServiceContext.$current.withValue(context) {
                    try await producer(writer)
                }
            }
            return response
        }
    }
#endif
