#if Tracing
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import HTTPToolkitTesting
    import InMemoryTracing
    import Testing
    import Tracing

    @Suite("Spans of a server, by OpenTelemetry's semantic conventions")
    struct TracingHandlerTests {
        private let tracer = TraceparentTracer()

        private func application(recordsQueries: Bool = false) -> TestApplication {
            var router = Router()
            router.get("/users/:id") { _ in "user" }
            router.get("/fails") { _ -> String in throw HTTPError(.serviceUnavailable) }
            var inner = Router()
            inner.get("/notes/:note") { _ in "note" }
            router.mount("/api", inner)
            router.on(.get, "/context") { _ in
                Response(.ok, body: .text(hasSpan() ? "yes" : "no"))
            }
            router.on(.get, "/later") { _ in
                await Task.yield()
                return Response(.ok, body: .text(hasSpan() ? "yes" : "no"))
            }
            router.on(.get, "/stream") { _ in
                Response(
                    .ok,
                    body: .stream { writer in try await writer.write(hasSpan() ? "yes" : "no") })
            }
            router.on(.get, "/cut") { _ in
                Response(
                    .ok,
                    body: .stream { writer in
                        try await writer.write("some")
                        throw HTTPError(.internalServerError)
                    })
            }
            return TestApplication(
                TracingHandler(router, tracer: tracer, recordsQueries: recordsQueries))
        }

        /// Waits for the only span to end.
        private func span() async throws -> FinishedInMemorySpan {
            while tracer.spans.finishedSpans.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            return try #require(tracer.spans.popFinishedSpans().first)
        }

        @Test("A span is named after method and route, and has the attributes of the request")
        func attributes() async throws {
            let request = TestRequest.get(
                "/users/7?secret", fields: [.host: "example.org:81", .userAgent: "test/1"])
            _ = try await application().response(to: request)
            let span = try await span()
            #expect(span.operationName == "GET /users/:id")
            #expect(span.kind == .server)
            #expect(span.status == nil)
            let expected: [String: SpanAttribute] = [
                "http.request.method": "GET", "http.route": "/users/:id", "url.scheme": "http",
                "url.path": "/users/7", "server.address": "example.org",
                "server.port": .int64(81), "client.address": "127.0.0.1",
                "network.peer.address": "127.0.0.1", "network.peer.port": .int64(49_152),
                "network.protocol.version": "1.1", "user_agent.original": "test/1",
                "http.response.status_code": .int64(200),
            ]
            #expect(span.attributes == SpanAttributes(expected))
        }

        @Test("The query is recorded with recordsQueries")
        func query() async throws {
            _ = try await application(recordsQueries: true).response(to: .get("/users/7?q=1"))
            #expect(try await span().attributes.get("url.query") == "q=1")
        }

        @Test("The route of a mounted router begins with the path of its mount")
        func mounted() async throws {
            _ = try await application().response(to: .get("/api/notes/1"))
            #expect(try await span().attributes.get("http.route") == "/api/notes/:note")
        }

        @Test("A span with status 503 is an error, and one with 404 is not")
        func errors() async throws {
            let app = application()
            _ = try await app.response(to: .get("/nothing"))
            let missing = try await span()
            #expect(missing.status == nil)
            #expect(missing.operationName == "GET")
            #expect(missing.attributes.get("http.response.status_code") == .int64(404))
            _ = try await app.response(to: .get("/fails"))
            let failed = try await span()
            #expect(failed.status?.code == .error)
            #expect(failed.attributes.get("error.type") == "503")
        }

        @Test("A response that ends early makes its span an error")
        func cut() async throws {
            await #expect(throws: TestApplicationError.self) {
                try await application().response(to: .get("/cut"))
            }
            let span = try await span()
            #expect(span.status?.code == .error)
            #expect(span.attributes.get("error.type") != nil)
        }

        @Test("A span of an unknown method is named HTTP, and keeps the original method")
        func unknownMethod() async throws {
            let method = try #require(HTTPMethod("BREW"))
            _ = try await application().response(to: TestRequest(method, "/users/1"))
            let span = try await span()
            #expect(span.operationName == "HTTP")
            #expect(span.attributes.get("http.request.method") == "_OTHER")
            #expect(span.attributes.get("http.request.method_original") == "BREW")
        }

        @Test("The request's traceparent is the span's parent; without it the span has none")
        func parent() async throws {
            let trace = String(repeating: "a", count: 32)
            let fields: HTTPFields = ["traceparent": "00-\(trace)-00f067aa0ba902b7-01"]
            _ = try await application().response(to: .get("/users/1", fields: fields))
            let child = try await span()
            #expect(child.spanContext.traceID == trace)
            #expect(child.spanContext.parentSpanID == "00f067aa0ba902b7")
            _ = try await application().response(to: .get("/users/1"))
            #expect(try await span().spanContext.parentSpanID == nil)
        }

        @Test(
            "Handlers and response streams run inside the span",
            arguments: ["context", "later", "stream"])
        func context(_ path: String) async throws {
            #expect(try await application().response(to: .get("/\(path)")).text == "yes")
        }
    }

    private func hasSpan() -> Bool { ServiceContext.current?.inMemorySpanContext != nil }
#endif
