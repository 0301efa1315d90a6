import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import URLClient

/// The server's features, used by a program with `URLClient`.
@Suite("The server through URLClient: messages", .timeLimit(.minutes(3)))
struct ClientMessageTests {
    static let content = [UInt8].noise(500_000, seed: 11)

    /// A server inside the test process, and a separate client.
    struct Pair {
        let server: HTTPServer
        let client: TestClient

        init(
            _ change: (inout ServerConfiguration, inout Router) throws -> Void
        ) async throws {
            var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
            configuration.loops = 2
            var router = Router()
            try change(&configuration, &router)
            server = HTTPServer(configuration, handler: router)
            try await server.start()
            client = TestClient(port: try #require(server.addresses.first?.port))
        }
    }

    @Test("Connections are reused until one is closed, as the metrics report")
    func persistence() async throws {
        let pair = try await Pair { _, router in
            router.on(.get, "/") { _ in Response(.ok, body: .text("content")) }
        }
        var ports: [Int] = []
        for fields: HTTPFields in [[:], [:], [.connection: "close"], [:], [:]] {
            let request = pair.client.request(.get, "/", fields: fields)
            let task = pair.client.session.dataTask(for: request)
            try await task.finished()
            let transaction = try #require(task.metrics?.transactions.first)
            #expect(transaction.isConnectionReused == (ports.last == transaction.localPort))
            ports.append(transaction.localPort)
        }
        #expect(ports[0] == ports[1] && ports[1] == ports[2] && ports[3] == ports[4])
        #expect(ports[2] != ports[3])
        await pair.server.shutdown()
    }

    @Test("Concurrent requests use separate connections, without pipelining")
    func noPipelining() async throws {
        let gate = ServerGate()
        let begun = ServerLog<Int>()
        let pair = try await Pair { _, router in
            let handler = AsyncHandler { request in
                begun.add(0)
                await gate.wait()
                return Response(.ok, body: .text("content"))
            }
            router.route(.get, "/", to: handler)
        }
        let tasks = (0..<4).map { _ in
            pair.client.session.dataTask(for: pair.client.request(.get, "/"))
        }
        for task in tasks { task.resume() }
        // All four have begun although none has a response yet.
        for _ in tasks { #expect(await begun.first() != nil) }
        gate.open()
        var ports: Set<Int> = []
        for task in tasks {
            try await task.finished()
            ports.insert(task.metrics?.transactions.first?.localPort ?? 0)
        }
        #expect(ports.count == 4)
        await pair.server.shutdown()
    }

    @Test("Chunked content in both directions, and trailers")
    func chunked() async throws {
        let pair = try await Pair { _, router in
            let handler = AsyncHandler { request in
                #expect(request.fields[.transferEncoding] == "chunked")
                let body = request.body
                return Response(
                    .ok, fields: [.trailer: "X-Count"],
                    body: .stream(mediaType: "application/octet-stream") { writer in
                        var count = 0
                        for try await piece in body {
                            count += piece.count
                            try await writer.write(piece)
                        }
                        await writer.setTrailers(["X-Count": "\(count)"])
                    })
            }
            router.route(.post, "/", to: handler)
        }
        let pieces = stride(from: 0, to: Self.content.count, by: 7_001).map {
            Array(Self.content[$0..<min($0 + 7_001, Self.content.count)])
        }
        let stream = AsyncStream { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        var request = pair.client.request(.post, "/", body: .stream(stream))
        // The response begins before the handler reads the content.
        request.expectation = .never
        let (content, response) = try await pair.client.session.data(for: request)
        #expect(content == Self.content && response.fields[.contentLength] == nil)
        #expect(response.trailers["X-Count"] == "\(Self.content.count)")
        await pair.server.shutdown()
    }

    @Test("Interim responses are received, and content is not sent to a handler that refuses it")
    func interim() async throws {
        let pair = try await Pair { _, router in
            let hints = AsyncHandler { request in
                try await request.sendInterim(.earlyHints, fields: [.link: "</a>"])
                return Response(.ok, body: .text("content"))
            }
            router.route(.get, "/hints", to: hints)
            let refusal = AsyncHandler { _ in throw HTTPError(.contentTooLarge) }
            router.route(.put, "/refused", to: refusal)
            let taker = AsyncHandler { request in
                Response(.ok, body: .text("\(try await request.body.collect(upTo: 1 << 20).count)"))
            }
            router.route(.put, "/taken", to: taker)
        }
        let hints = try await pair.client.get("/hints")
        #expect(hints.response.interim.map(\.status) == [.earlyHints])
        #expect(hints.response.interim.first?.fields[.link] == "</a>")
        for (path, status) in [("/refused", HTTPStatus.contentTooLarge), ("/taken", .ok)] {
            var request = pair.client.request(.put, path)
            request.expectation = .above(bytes: 0, wait: .seconds(60))
            let task = pair.client.session.uploadTask(
                for: request, from: .bytes(Self.content))
            let response = try await task.finished()
            #expect(response.status == status)
            #expect(task.countOfBytesSent == (status == .ok ? Int64(Self.content.count) : 0))
            if status == .ok { #expect(response.interim.map(\.status) == [.continue]) }
        }
        await pair.server.shutdown()
    }

    @Test("A handler that stops reading blocks an upload until it reads all of it")
    func backPressure() async throws {
        let gate = ServerGate()
        let pair = try await Pair { _, router in
            let handler = AsyncHandler { request in
                var count = 0
                for try await piece in request.body {
                    if count == 0 { await gate.wait() }
                    count += piece.count
                }
                return Response(.ok, body: .text("\(count)"))
            }
            router.route(.put, "/", to: handler)
        }
        let size = 64 << 20
        var request = pair.client.request(.put, "/")
        request.expectation = .never
        let task = pair.client.session.uploadTask(
            for: request, from: .bytes([UInt8](repeating: 1, count: size)))
        task.resume()
        var last: Int64 = -1
        try await waitUntil {
            last = task.countOfBytesSent
            try await Task.sleep(for: .milliseconds(300))
            return task.countOfBytesSent == last && last > 0
        }
        // Only the bytes that fit in the system's buffers are sent.
        #expect(last < size)
        gate.open()
        #expect(try await task.finished().status == .ok)
        #expect(task.countOfBytesSent == size)
        await pair.server.shutdown()
    }

    @Test("Server-sent events are received one by one during the response")
    func events() async throws {
        let (events, source) = AsyncStream<ServerSentEvent>.makeStream()
        let pair = try await Pair { _, router in
            router.on(.get, "/") { _ in .events(events) }
        }
        let (content, response) = try await pair.client.session.bytes(
            for: pair.client.request(.get, "/"))
        #expect(response.fields[.contentType] == "text/event-stream")
        var pieces = content.makeAsyncIterator()
        for number in 1...3 {
            let event = ServerSentEvent("number \(number)\nmore", name: "count", id: "\(number)")
            // The next event is sent after this one has been read.
            source.yield(event)
            var text = ""
            while text.utf8.count < event.text.utf8.count, let piece = try await pieces.next() {
                text += String(decoding: piece, as: UTF8.self)
            }
            #expect(text == event.text)
        }
        source.finish()
        #expect(try await pieces.next() == nil)
        await pair.server.shutdown()
    }

    @Test("Shutdown completes a running request, and accepts no new connections")
    func shutdown() async throws {
        let gate = ServerGate()
        let begun = ServerLog<Int>()
        let pair = try await Pair { _, router in
            let handler = AsyncHandler { _ in
                begun.add(0)
                await gate.wait()
                return Response(.ok, body: .bytes(Self.content))
            }
            router.route(.get, "/", to: handler)
        }
        async let answer = pair.client.get()
        #expect(await begun.first() != nil)
        async let end: Void = pair.server.shutdown(grace: .seconds(100))
        try await waitUntil { pair.server.state != .running }
        // The listener is closed shortly after the state changes; until then the response is an
        // error for the unknown path.
        var late: ClientError?
        let patience = ContinuousClock.now + .seconds(60)
        while late == nil, ContinuousClock.now < patience {
            do { _ = try await pair.client.get("/none") } catch { late = error as? ClientError }
        }
        #expect(late?.kind == .cannotConnect, "\(late?.description ?? "-")")
        gate.open()
        let content = try await answer
        #expect(content.content == Self.content && content.fields[.connection] == "close")
        await end
    }

    @Test("Requests over a Unix socket may have any name in Host")
    func unixSocket() async throws {
        let folder = try ServerDirectory()
        let path = folder.path("socket")
        let pair = try await Pair { configuration, router in
            configuration.endpoints.append(.unix(path: path))
            router.on(.get, "/") { request in
                Response(.ok, body: .text(request.fields[.host] ?? ""))
            }
        }
        let client = TestClient("http://any.test", at: .unixSocket(path))
        #expect(try await client.get().text == "any.test")
        await pair.server.shutdown()
    }
}
