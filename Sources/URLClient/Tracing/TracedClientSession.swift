#if Tracing
    internal import HTTPParser
    public import Tracing

    #if canImport(FoundationEssentials)
        internal import FoundationEssentials
    #else
        internal import Foundation
    #endif

    /// A session that records a span for each request. Requires the package trait `Tracing`.
    ///
    /// <!-- snippet: not compiled: it needs the trait -->
    /// ```swift
    /// let (content, response) = try await session.traced().data(for: request)
    /// ```
    ///
    /// The span is a child of `ServiceContext.current`. The tracer puts its context into the
    /// fields, such as `traceparent` (W3C Trace Context), in place of fields of the same name.
    /// Redirects and retries of a request are part of its span. Names and attributes follow
    /// OpenTelemetry's semantic conventions for HTTP clients, version 1.23 and later:
    /// `http.request.method`, `url.full` without user, password and fragment, `server.address`,
    /// `server.port`, `network.protocol.version`, `http.response.status_code` and `error.type`. A
    /// status of 400 or above marks the span as an error.
    public struct TracedClientSession: Sendable {
        /// The session that sends the requests.
        public let session: ClientSession
        private let tracer: (any Tracer)?
        private let recordsQueries: Bool

        fileprivate init(
            _ session: ClientSession, tracer: (any Tracer)?, recordsQueries: Bool
        ) {
            self.session = session
            self.tracer = tracer
            self.recordsQueries = recordsQueries
        }

        /// ``ClientSession/data(for:delegate:)`` within a span.
        public func data(
            for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
        ) async throws(ClientError) -> ([UInt8], ClientResponse) {
            try await withSpan(request) { request throws(ClientError) in
                try await session.data(for: request, delegate: delegate)
            }
        }

        /// ``ClientSession/upload(for:from:delegate:)`` within a span.
        @discardableResult
        public func upload(
            for request: ClientRequest, from body: ClientBody,
            delegate: (any ClientSessionDelegate)? = nil
        ) async throws(ClientError) -> ([UInt8], ClientResponse) {
            try await withSpan(request) { request throws(ClientError) in
                try await session.upload(for: request, from: body, delegate: delegate)
            }
        }

        /// ``ClientSession/download(for:to:delegate:)`` within a span.
        @discardableResult
        public func download(
            for request: ClientRequest, to path: String,
            delegate: (any ClientSessionDelegate)? = nil
        ) async throws(ClientError) -> ClientResponse {
            try await withSpan(request) { request throws(ClientError) in
                ((), try await session.download(for: request, to: path, delegate: delegate))
            }.1
        }

        /// ``ClientSession/bytes(for:delegate:)`` within a span, which ends with the response's
        /// head.
        public func bytes(
            for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
        ) async throws(ClientError) -> (ClientContent, ClientResponse) {
            try await withSpan(request) { request throws(ClientError) in
                try await session.bytes(for: request, delegate: delegate)
            }
        }

        private func withSpan<Value>(
            _ request: ClientRequest,
            _ send: (ClientRequest) async throws(ClientError) -> (Value, ClientResponse)
        ) async throws(ClientError) -> (Value, ClientResponse) {
            let tracer = tracer ?? InstrumentationSystem.tracer
            let span = tracer.startSpan(
                request.method.isKnown ? request.method.name : "HTTP", ofKind: .client)
            defer { span.end() }
            if span.isRecording { describe(request, on: span) }
            var request = request
            tracer.inject(span.context, into: &request.fields, using: FieldInjector())
            do throws(ClientError) {
                let (value, response) = try await send(request)
                Self.note(response, on: span)
                return (value, response)
            } catch {
                Self.fail(span, "\(error.kind)")
                span.recordError(error)
                throw error
            }
        }

        private func describe(_ request: ClientRequest, on span: any Span) {
            span.updateAttributes { attributes in
                let isKnown = request.method.isKnown
                attributes["http.request.method"] =
                    isKnown ? request.method.name : "_OTHER"
                if !isKnown {
                    attributes["http.request.method_original"] = request.method.name
                }
                attributes["url.full"] = publicText(of: request.url)
                attributes["server.address"] = request.origin?.host
                attributes["server.port"] = request.origin.map { Int($0.port) }
            }
        }

        /// The URL without user, password and fragment, and without the query unless queries are
        /// recorded.
        private func publicText(of url: URL) -> String {
            guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
                return ""
            }
            (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
            if !recordsQueries { parts.query = nil }
            return parts.string ?? ""
        }

        private static func note(_ response: ClientResponse, on span: any Span) {
            let code = Int(response.status.code)
            span.attributes["http.response.status_code"] = code
            span.attributes["network.protocol.version"] = String(
                response.version.rawValue.dropFirst("HTTP/".count))
            if code >= 400 { fail(span, "\(code)") }
        }

        private static func fail(_ span: any Span, _ type: String) {
            span.attributes["error.type"] = type
            span.setStatus(SpanStatus(code: .error))
        }
    }

    extension ClientSession {
        /// A view of this session that records a span for each request.
        /// - Parameters:
        ///   - tracer: the tracer that receives the spans; `nil` for the tracer of
        ///     `InstrumentationSystem`.
        ///   - recordsQueries: whether spans contain the queries of URLs, which may contain
        ///     secrets.
        public func traced(
            by tracer: (any Tracer)? = nil, recordsQueries: Bool = false
        ) -> TracedClientSession {
            TracedClientSession(self, tracer: tracer, recordsQueries: recordsQueries)
        }
    }

    /// Sets the request fields that a tracer adds.
    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
            guard let name = HTTPFieldName(key) else { return }
            fields[name] = value
        }
    }
#endif
