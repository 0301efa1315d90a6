#if Tracing
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import InMemoryTracing
    import Testing
    import Tracing
    import URLClient

    @Suite("Spans of a client, by OpenTelemetry's semantic conventions")
    struct TracedClientSessionTests {
        private let tracer = TraceparentTracer()

        /// Calls `body` with the authority of a server.
        private func withServer(
            _ handler: some Handler, _ body: (String) async throws -> Void
        ) async throws {
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0), handler: handler)
            try await server.start()
            do {
                try await body(try #require(server.addresses.first).description)
            } catch {
                await server.shutdown()
                throw error
            }
            await server.shutdown()
        }

        @Test("The span has the URL without secrets, the server and the status")
        func attributes() async throws {
            var router = Router()
            router.get("/a") { _ in "a" }
            try await withServer(router) { authority in
                let session = ClientSession()
                let url = "http://user:word@\(authority)/a?secret=1#part"
                let (content, _) = try await session.traced(by: tracer).data(
                    for: ClientRequest(.get, url))
                #expect(content == Array("a".utf8))
                let span = try #require(tracer.spans.popFinishedSpans().first)
                #expect(span.operationName == "GET")
                #expect(span.kind == .client)
                #expect(span.status == nil)
                #expect(span.attributes.get("url.full") == "http://\(authority)/a")
                #expect(span.attributes.get("server.address") == "127.0.0.1")
                #expect(span.attributes.get("server.port") != nil)
                #expect(span.attributes.get("network.protocol.version") == "1.1")
                #expect(span.attributes.get("http.response.status_code") == .int64(200))
                let (_, missing) = try await session.traced(by: tracer).data(
                    for: ClientRequest(.get, "http://\(authority)/b"))
                #expect(missing.status == .notFound)
                let failed = try #require(tracer.spans.popFinishedSpans().first)
                #expect(failed.status?.code == .error)
                #expect(failed.attributes.get("error.type") == "404")
            }
        }

        @Test("The server's span is the child of the client's, and all are in one trace")
        func trace() async throws {
            var router = Router()
            router.get("/a") { _ in "a" }
            try await withServer(TracingHandler(router, tracer: tracer)) { authority in
                try await tracer.withSpan("outside") { _ in
                    _ = try await ClientSession().traced(by: tracer).data(
                        for: ClientRequest(.get, "http://\(authority)/a"))
                }
                while tracer.spans.finishedSpans.count < 3 {
                    try await Task.sleep(for: .milliseconds(1))
                }
                let spans = tracer.spans.popFinishedSpans()
                #expect(Set(spans.map(\.spanContext.traceID)).count == 1)
                let outside = try #require(spans.first { $0.operationName == "outside" })
                let client = try #require(spans.first { $0.kind == .client })
                let server = try #require(spans.first { $0.kind == .server })
                #expect(client.spanContext.parentSpanID == outside.spanContext.spanID)
                #expect(server.spanContext.parentSpanID == client.spanContext.spanID)
            }
        }

        @Test("A failed connection is recorded as an error of the span")
        func failure() async throws {
            await #expect(throws: ClientError.self) {
                try await ClientSession().traced(by: tracer).data(
                    for: ClientRequest(.get, "http://127.0.0.1:1/"))
            }
            let span = try #require(tracer.spans.popFinishedSpans().first)
            #expect(span.status?.code == .error)
            #expect(span.attributes.get("error.type") != nil)
            #expect(span.errors.count == 1)
        }
    }
#endif
