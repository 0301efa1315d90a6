import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Limited rates", .timeLimit(.minutes(3)))
struct RateTests {
    enum Way: CaseIterable { case collected, streamed, file, sent }

    private static let content = TestServer.pattern(120_000)

    private func move(_ way: Way, _ session: ClientSession, _ server: TestServer) async throws
        -> [UInt8]?
    {
        let request = ClientRequest(.get, server.url("/bytes/\(Self.content.count)"))
        switch way {
        case .collected: return try await session.data(for: request).0
        case .streamed:
            var content: [UInt8] = []
            for try await piece in try await session.bytes(for: request).0 { content += piece }
            return content
        case .file:
            let folder = try ServerDirectory()
            try await session.download(for: request, to: folder.path("file"))
            return Files.read(folder.path("file"))
        case .sent:
            let request = ClientRequest(
                .put, server.url("/echo"), body: .bytes(Self.content))
            return try await session.data(for: request).0
        }
    }

    @Test(
        "Content is received and sent no faster than the session allows", arguments: Way.allCases)
    func limited(_ way: Way) async throws {
        let server = try await TestServer()
        var configuration = ClientConfiguration.ephemeral
        if way == .sent {
            configuration.sendBytesPerSecond = 40_000
        } else {
            configuration.receiveBytesPerSecond = 40_000
        }
        let start = ContinuousClock.now
        let content = try await move(way, ClientSession(configuration), server)
        #expect(content == Self.content)
        // Three seconds, less the first and the last piece.
        #expect(start.duration(to: .now) >= .seconds(2))
    }

    @Test("Pauses that keep a rate do not count as idle time", arguments: [false, true])
    func silence(_ isBrief: Bool) async throws {
        let server = try await TestServer()
        var configuration = ClientConfiguration.ephemeral
        configuration.receiveBytesPerSecond = 1_024
        configuration.timeouts.idle = .milliseconds(500)
        if isBrief { configuration.briefWait = .milliseconds(1) }
        let session = ClientSession(configuration)
        let request = ClientRequest(.get, server.url("/bytes/3072"))
        // A busy machine makes longer pauses; if pauses counted as idle time, each attempt would
        // fail.
        var content: [UInt8]?
        var attempts = 0
        while content == nil, attempts < 20 {
            attempts += 1
            content = try? await session.data(for: request).0
        }
        #expect(content == TestServer.pattern(3_072))
    }

    @Test("A limited download can be cancelled and suspended in a pause")
    func control() async throws {
        let server = try await TestServer()
        let folder = try ServerDirectory()
        var configuration = ClientConfiguration.ephemeral
        configuration.receiveBytesPerSecond = 20_000
        let session = ClientSession(configuration)
        func task(_ name: String, _ path: String) -> DownloadTask {
            session.downloadTask(
                for: ClientRequest(.get, server.url(path)), to: folder.path(name))
        }
        // The first one would take minutes.
        let cancelled = task("cancelled", "/stream/3000000")
        let suspended = task("suspended", "/bytes/30000")
        for task in [cancelled, suspended] {
            task.resume()
            try await waitUntil { task.countOfBytesReceived > 0 }
        }
        cancelled.cancel()
        suspended.suspend()
        // After this call the session has processed both of them.
        _ = await session.allTasks
        suspended.resume()
        let error = await failure { try await cancelled.finished() }
        #expect(error?.kind == .cancelled)
        try await suspended.finished()
        #expect(Files.read(folder.path("suspended")) == TestServer.pattern(30_000))
        #expect(Files.names(folder.path) == ["suspended"])
    }

    @Test("A rate below one byte a second counts as one", arguments: [Int64.min, 0])
    func smallest(_ rate: Int64) async throws {
        let server = try await TestServer()
        var configuration = ClientConfiguration.ephemeral
        (configuration.receiveBytesPerSecond, configuration.sendBytesPerSecond) = (rate, rate)
        let session = ClientSession(configuration)
        let request = ClientRequest(.put, server.url("/echo"), body: .text("x"))
        #expect(try await session.data(for: request).0 == Array("x".utf8))
    }

    @Test("The greatest rate is no limit")
    func greatest() async throws {
        let server = try await TestServer()
        var configuration = ClientConfiguration.ephemeral
        (configuration.receiveBytesPerSecond, configuration.sendBytesPerSecond) = (.max, .max)
        for way in Way.allCases {
            #expect(try await move(way, ClientSession(configuration), server) == Self.content)
        }
    }
}

@Suite("The rate limiter")
struct RateLimiterTests {
    private static let second: Int64 = 1_000_000_000

    @Test(
        "Each pause lasts until the bytes so far fit the rate",
        arguments: [
            // Bytes, their arrival in tenths of a second, and the end of the pause.
            ([(1_000, 0)], [10]),
            ([(500, 0), (500, 5), (1_000, 10)], [5, 10, 20]),
            ([(0, 0)], [nil]),
            // A delay of less than two tenths of a second is made up for, a longer one is not.
            ([(1_000, 0), (100, 12)], [10, nil]),
            ([(1_000, 0), (100, 11), (100, 11)], [10, nil, 12]),
            ([(1_000, 0), (300, 100), (100, 100)], [10, 101, 102]),
        ] as [([(Int, Int64)], [Int64?])])
    func pauses(_ pieces: [(Int, Int64)], _ ends: [Int64?]) {
        var limiter = RateLimiter(bytesPerSecond: 1_000)
        let tenth = Self.second / 10
        #expect(pieces.map { limiter.add($0.0, at: $0.1 * tenth).map { $0 / tenth } } == ends)
    }

    @Test("No number overflows", arguments: [Int64.min, 0, 1, .max])
    func extremes(_ rate: Int64) {
        var limiter = RateLimiter(bytesPerSecond: rate)
        for now in [0, 1 << 62] as [Int64] {
            for _ in 0..<5 { _ = limiter.add(.max, at: now) }
        }
    }
}
