import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Logging
import Synchronization
import TestSupport
import Testing
import ToolkitSystem

/// A clock that a test moves.
private final class TestClock: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000_000)
    var now: UInt64 { nanoseconds.load(ordering: .relaxed) }
    func pass(milliseconds: UInt64) {
        nanoseconds.add(milliseconds * 1_000_000, ordering: .relaxed)
    }
}

@Suite("RFC 6585, 4: Too many requests")
struct RateLimitTests {
    private let clock = TestClock()

    private func handler(
        _ speed: Sample.Speed = .immediate, requests: Int, per period: Duration, burst: Int? = nil,
        clients: Int = 100
    ) -> RateLimitHandler {
        let clock = clock
        return RateLimitHandler(
            AnyTestHandler(Sample.handler(speed) { _ in Response(.ok) }), requests: requests,
            per: period, burst: burst, clientLimit: clients, clock: { clock.now })
    }

    private func ask(_ handler: RateLimitHandler, _ address: PeerAddress) async throws -> Int {
        try await exchange(handler, address: address).status
    }

    @Test("A client gets its burst, then its rate", arguments: Sample.Speed.allCases)
    func rate(_ speed: Sample.Speed) async throws {
        let handler = handler(speed, requests: 10, per: .seconds(1), burst: 3)
        let peer = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        for _ in 0..<3 { #expect(try await ask(handler, peer) == 200) }
        #expect(try await ask(handler, peer) == 429)
        clock.pass(milliseconds: 99)
        #expect(try await ask(handler, peer) == 429)
        clock.pass(milliseconds: 1)
        #expect(try await ask(handler, peer) == 200)
        #expect(try await ask(handler, peer) == 429)
        clock.pass(milliseconds: 60_000)
        for _ in 0..<3 { #expect(try await ask(handler, peer) == 200) }
        #expect(try await ask(handler, peer) == 429)
    }

    @Test("A client that continues after refusals is not evicted")
    func persistence() async throws {
        let handler = handler(requests: 1, per: .seconds(3_600), clients: 10)
        let peer = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        #expect(try await ask(handler, peer) == 200)
        for round in 0..<4 {
            for number in 0..<10 {
                let other = PeerAddress(ipv4: (198, 51, UInt8(round), UInt8(number)), port: 1)
                #expect(try await ask(handler, other) == 200)
            }
            #expect(try await ask(handler, peer) == 429)
        }
    }

    @Test("Retry-After has whole seconds, rounded up")
    func retryAfter() async throws {
        let handler = handler(requests: 1, per: .milliseconds(2_500))
        let peer = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        #expect(try await ask(handler, peer) == 200)
        #expect(try await exchange(handler, address: peer)["Retry-After"] == "3")
        clock.pass(milliseconds: 2_499)
        #expect(try await exchange(handler, address: peer)["Retry-After"] == "1")
        clock.pass(milliseconds: 1)
        #expect(try await ask(handler, peer) == 200)
    }

    @Test("A client is an IPv4 address, an IPv6 prefix of 64 bits or a link-local address")
    func clients() async throws {
        let handler = handler(requests: 1, per: .seconds(3_600))
        let same: [[PeerAddress]] = [
            [
                PeerAddress(ipv4: (192, 0, 2, 1), port: 1),
                PeerAddress(ipv4: (192, 0, 2, 1), port: 2),
                PeerAddress(ipv6: (0, 0xFFFF_C000_0201), port: 3),
            ],
            [PeerAddress(ipv4: (192, 0, 2, 2), port: 1)],
            [
                PeerAddress(ipv6: (0x2001_0DB8_0000_0001, 1), port: 1),
                PeerAddress(ipv6: (0x2001_0DB8_0000_0001, .max), port: 1),
            ],
            [PeerAddress(ipv6: (0x2001_0DB8_0000_0002, 1), port: 1)],
            [PeerAddress(ipv6: (0xFE80_0000_0000_0000, 1), port: 1)],
            [PeerAddress(ipv6: (0xFE80_0000_0000_0000, 2), port: 1)],
        ]
        for group in same {
            for (index, peer) in group.enumerated() {
                #expect(try await ask(handler, peer) == (index == 0 ? 200 : 429))
            }
        }
        // Clients of a Unix socket cannot be distinguished.
        for _ in 0..<3 { #expect(try await ask(handler, PeerAddress()) == 200) }
    }

    @Test("The number of remembered clients is bounded")
    func bounded() async throws {
        let handler = handler(requests: 1, per: .seconds(3_600), clients: 10)
        for number in 0..<UInt8(50) {
            #expect(try await ask(handler, PeerAddress(ipv4: (10, 0, 0, number), port: 1)) == 200)
            #expect(handler.clientCount <= 20)
        }
        #expect(try await ask(handler, PeerAddress(ipv4: (10, 0, 0, 49), port: 1)) == 429)
    }
}

@Suite("Request ids")
struct RequestIDHandlerTests {
    @Test("Handler, response, log and record have one id", arguments: Sample.Speed.allCases)
    func oneID(_ speed: Sample.Speed) async throws {
        let (seen, records) = (ServerLog<String>(), ServerLog<AccessRecord>())
        let inner = Sample.handler(speed) { request in
            seen.add(request.traceID)
            #expect(request.logger[metadataKey: "request"] == "\(request.traceID)")
            if request.path == "/bad" { throw HTTPError(.notFound) }
            return Response(.ok)
        }
        let handler = RequestIDHandler(AnyTestHandler(inner))
        var ids: Set<String> = []
        for path in ["/", "/bad", "/"] {
            let answer = try await exchange(
                handler, "GET", path, "X-Request-ID: foreign\r\n",
                configuration: .test { $0.accessLog = { records.add($0) } })
            let id = try #require(answer["X-Request-ID"])
            #expect(id.utf8.count == 32 && id.allSatisfy(\.isHexDigit))
            #expect(seen.entries.last == id)
            #expect(records.entries.last?.traceID == id)
            ids.insert(id)
        }
        #expect(ids.count == 3)
    }

    @Test(
        "A well-formed id of the client is accepted if the option allows it",
        arguments: [
            ("abc-DEF_1.2:3+/=", true), (String(repeating: "a", count: 128), true),
            (String(repeating: "a", count: 129), false), ("a b", false), ("a\"b", false),
            ("", false),
            ("é", false), ("a;b", false),
        ])
    func incoming(_ id: String, _ isTaken: Bool) async throws {
        let handler = RequestIDHandler(
            Sample.target, name: "X-Correlation-ID", acceptsIncoming: true)
        let answer = try await exchange(handler, "GET", "/", "X-Correlation-ID: \(id)\r\n")
        #expect((answer["X-Correlation-ID"] == id) == isTaken)
    }

    @Test("Without the handler the id has the numbers of connection and request")
    func plain() async throws {
        let answer = try await exchange(
            SyncHandler { request in
                #expect(request.traceID == "\(request.connection.id)-1")
                return Response(.ok)
            })
        #expect(answer.status == 200)
    }
}

@Suite("Timeouts of handlers")
struct TimeoutHandlerTests {
    @Test(
        "A handler that exceeds its time is cancelled, and the client gets the status",
        arguments: [
            HTTPStatus.serviceUnavailable, .gatewayTimeout,
        ])
    func late(_ status: HTTPStatus) async throws {
        let log = ServerLog<String>()
        let handler = TimeoutHandler(
            AsyncHandler { _ in
                await ServerGate().wait()
                log.add(Task.isCancelled ? "cancelled" : "not cancelled")
                return Response(.ok)
            }, after: .milliseconds(1), status: status)
        #expect(try await exchange(handler).status == Int(status.code))
        #expect(await log.first() == "cancelled")
    }

    @Test("A handler that ignores cancellation does not delay the response")
    func stubborn() async throws {
        let (gate, log) = (ServerGate(), ServerLog<String>())
        let handler = TimeoutHandler(
            AsyncHandler { _ in
                await Task { await gate.wait() }.value
                log.add("ended")
                return Response(.ok, body: .text("late"))
            }, after: .milliseconds(1))
        let client = MemoryConnection(handler)
        client.send(Sample.get("/"))
        try await client.output("HTTP/1.1 503 ")
        gate.open()
        #expect(await log.first() == "ended")
        await client.settle()
        #expect(client.record.count(of: "late") == 0)
    }

    @Test("A handler within its time is not affected", arguments: Sample.Speed.allCases)
    func inTime(_ speed: Sample.Speed) async throws {
        let inner = Sample.handler(speed) { request in
            if request.path == "/bad" { throw HTTPError(.notFound) }
            return Response(.ok, body: .text("fine"))
        }
        let handler = TimeoutHandler(AnyTestHandler(inner), after: .seconds(3_600))
        #expect(try await exchange(handler).text == "fine")
        #expect(try await exchange(handler, "GET", "/bad").status == 404)
    }

    @Test("A client that disconnects cancels the inner handler")
    func clientGone() async throws {
        let log = ServerLog<String>()
        let handler = TimeoutHandler(
            AsyncHandler { _ in
                log.add("begun")
                await ServerGate().wait()
                log.add(Task.isCancelled ? "cancelled" : "not cancelled")
                return Response(.ok)
            }, after: .seconds(3_600))
        let client = MemoryConnection(handler)
        client.send(Sample.get("/"))
        _ = await log.first()
        client.hangUp()
        #expect(await log.first() == "cancelled")
    }
}

@Suite("RFC 9111, 5.2.2: Cache-Control")
struct CacheControlTests {
    @Test("Directives are written by their names, in whole seconds")
    func directives() {
        #expect(CacheControl().description.isEmpty)
        #expect(CacheControl.noCache.description == "no-cache")
        #expect(CacheControl.noStore.description == "no-store")
        #expect(CacheControl.private(maxAge: .seconds(5)).description == "private, max-age=5")
        #expect(
            CacheControl.public(maxAge: .seconds(60), isImmutable: true).description
                == "public, max-age=60, immutable")
        var all = CacheControl()
        all.maxAge = .seconds(-1)
        all.sharedMaxAge = .milliseconds(2_900)
        all.noTransform = true
        all.mustRevalidate = true
        all.proxyRevalidate = true
        all.staleWhileRevalidate = .seconds(3)
        all.staleIfError = .seconds(4)
        #expect(
            all.description == "no-transform, max-age=0, s-maxage=2, must-revalidate, "
                + "proxy-revalidate, stale-while-revalidate=3, stale-if-error=4")
    }

    @Test("A response can have Cache-Control set and removed")
    func response() {
        var response = Response(.ok).cached(.noStore)
        #expect(response.fields[.cacheControl] == "no-store")
        response.setCacheControl(nil)
        #expect(response.fields[.cacheControl] == nil)
    }
}
