import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite("RFC 9113, 8.7: what a server has not begun to do", .timeLimit(.minutes(2)))
struct RefusedStreamTests {
    /// HTTP/2 from the side of a server, as far as these tests need it.
    private struct Frames {
        let connection: PeerConnection

        enum Kind { static let (headers, data, reset, settings, goaway) = (1, 0, 3, 4, 7) }

        /// Takes the preface, and sends settings of its own.
        func begin() -> Bool {
            guard connection.content(24).starts(with: Array("PRI * HTTP/2.0".utf8)) else {
                return false
            }
            return send(Kind.settings, on: 0, [])
        }

        @discardableResult
        func send(_ kind: Int, flags: UInt8 = 0, on stream: UInt32, _ payload: [UInt8]) -> Bool {
            let count = payload.count
            let head = [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
            return connection.send(head + [UInt8(kind), flags] + Self.bytes(stream) + payload)
        }

        static func bytes(_ number: UInt32) -> [UInt8] {
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }

        /// The next request and its content, when it is whole; nil at the end of the connection.
        func request() -> (stream: UInt32, content: [UInt8])? {
            var content: [UInt8] = []
            while true {
                let head = connection.content(9)
                guard head.count == 9 else { return nil }
                let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
                let payload = connection.content(count)
                let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                if Int(head[3]) == Kind.settings, head[4] & 1 == 0 {
                    send(Kind.settings, flags: 1, on: 0, [])
                }
                if Int(head[3]) == Kind.data { content += payload }
                let isRequest = Int(head[3]) == Kind.headers || Int(head[3]) == Kind.data
                if isRequest, head[4] & 1 != 0 { return (stream, content) }
            }
        }

        /// 200 without content: entry 8 of the static table (RFC 7541 appendix A).
        func answer(_ stream: UInt32) { send(Kind.headers, flags: 5, on: stream, [0x88]) }

        func reset(_ stream: UInt32, _ code: UInt32) {
            send(Kind.reset, on: stream, Self.bytes(code))
        }

        /// Says which stream was the last one that something was done about.
        func goAway(last: UInt32) {
            send(Kind.goaway, on: 0, Self.bytes(last) + Self.bytes(0))
        }
    }

    /// What the server says in place of an answer.
    enum Refusal: CaseIterable {
        /// REFUSED_STREAM.
        case stream
        /// GOAWAY with a lower number, and the end of the connection or not.
        case connection, connectionAtOnce
    }

    private func refuse(_ refusal: Refusal, _ frames: Frames, _ stream: UInt32) {
        switch refusal {
        case .stream: frames.reset(stream, 7)
        case .connection: frames.goAway(last: stream == 1 ? 0 : stream - 2)
        case .connectionAtOnce:
            frames.goAway(last: stream == 1 ? 0 : stream - 2)
            frames.connection.finish()
        }
    }

    /// Answers so many requests of the first connection, says something else to the next one, and
    /// answers all of later connections.
    private func peer(
        after count: Int = 0, _ seen: Locked<[[UInt8]]>,
        _ say: @escaping @Sendable (Frames, UInt32) -> Void
    ) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            let frames = Frames(connection: connection)
            guard frames.begin() else { return }
            var left = connection.index == 0 ? count : .max
            while let (stream, content) = frames.request() {
                seen.withLock { $0.append(content) }
                if left > 0 { frames.answer(stream) } else { say(frames, stream) }
                left -= 1
            }
        }
    }

    private func session(_ retries: RetryPolicy = RetryPolicy()) -> ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.protocols = .http2PriorKnowledge
        configuration.retries = retries
        configuration.retries.firstDelay = .milliseconds(1)
        return ClientSession(configuration)
    }

    private static let content = Array("content".utf8)

    /// What can be sent more than once.
    enum Body: CaseIterable {
        case none, bytes, replayable

        var body: ClientBody {
            switch self {
            case .none: .none
            case .bytes: .bytes(RefusedStreamTests.content)
            case .replayable: .replayable { OneElement(RefusedStreamTests.content) }
            }
        }
    }

    @Test(
        "A POST that is refused goes out once more", arguments: Refusal.allCases, Body.allCases)
    func repeated(_ refusal: Refusal, _ body: Body) async throws {
        let seen = Locked([[UInt8]]())
        let peer = try peer(seen) { refuse(refusal, $0, $1) }
        let (_, response) = try await session().data(
            for: ClientRequest(.post, peer.url(), body: body.body))
        #expect(response.status == .ok && response.version == .http2)
        let content = body == .none ? [] : Self.content
        #expect(seen.withLock { $0 } == [content, content])
    }

    @Test("The same on a connection that was used before, where GOAWAY came", arguments: [1, 2])
    func reused(_ count: Int) async throws {
        let seen = Locked([[UInt8]]())
        let peer = try peer(after: count, seen) { refuse(.connection, $0, $1) }
        let session = session()
        for _ in 0..<count {
            _ = try await session.data(for: ClientRequest(.get, peer.url()))
        }
        let (_, response) = try await session.data(
            for: ClientRequest(.post, peer.url(), body: .bytes(Self.content)))
        #expect(response.status == .ok)
        #expect(seen.withLock { $0.filter { !$0.isEmpty } } == [Self.content, Self.content])
    }

    @Test("Once, and not over and over; not at all where nothing is sent again")
    func limit() async throws {
        for (policy, count) in [(RetryPolicy(), 2), (.never, 1)] {
            let seen = Locked([[UInt8]]())
            let peer = try ScriptedPeer { connection in
                let frames = Frames(connection: connection)
                guard frames.begin() else { return }
                while let (stream, content) = frames.request() {
                    seen.withLock { $0.append(content) }
                    frames.reset(stream, 7)
                }
            }
            let error = await failure {
                try await session(policy).data(
                    for: ClientRequest(.post, peer.url(), body: .bytes(Self.content)))
            }
            #expect(error?.kind == .connectionLost && error?.isSafeToRetry == true)
            #expect(seen.withLock { $0.count } == count)
        }
    }

    @Test("What can be sent once is not; the error says that it may be")
    func oneShot() async throws {
        let seen = Locked([[UInt8]]())
        let peer = try peer(seen) { refuse(.stream, $0, $1) }
        let error = await failure {
            try await session().data(
                for: ClientRequest(.post, peer.url(), body: .stream(OneElement(Self.content))))
        }
        #expect(error?.isSafeToRetry == true, "\(error?.description ?? "-")")
        #expect(seen.withLock { $0 } == [Self.content])
    }

    @Test(
        "Nothing is sent again that may have been done", arguments: [0, 1],
        ["internal error", "goaway behind it", "closed"])
    func unknown(_ count: Int, _ what: String) async throws {
        let seen = Locked([[UInt8]]())
        let peer = try peer(after: count, seen) { frames, stream in
            switch what {
            case "internal error": frames.reset(stream, 2)
            case "goaway behind it":
                frames.goAway(last: stream)
                frames.connection.finish()
            default: frames.connection.finish()
            }
        }
        let session = session()
        for _ in 0..<count {
            _ = try await session.data(for: ClientRequest(.get, peer.url()))
        }
        let error = await failure {
            try await session.data(
                for: ClientRequest(.post, peer.url(), body: .bytes(Self.content)))
        }
        #expect(error?.isSafeToRetry == false, "\(error?.description ?? "-")")
        #expect(seen.withLock { $0.filter { !$0.isEmpty } } == [Self.content])
    }
}
