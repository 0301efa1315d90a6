import Foundation
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Cancelling", .serialized, .timeLimit(.minutes(10)))
struct CancellationTests {
    /// How many tasks are cancelled, if the environment says so; such a run has only this test.
    private static var wanted: Int? {
        ProcessInfo.processInfo.environment["URLCLIENT_CANCELLATIONS"].flatMap(Int.init)
    }

    /// Ways to make a task.
    private enum Way: CaseIterable { case data, handler, delegate, bytes, upload, download }

    private final class Weak: Sendable {
        nonisolated(unsafe) weak var task: TransferTask?

        init(_ task: TransferTask) { unsafe self.task = task }

        var isAlive: Bool { unsafe task != nil }
    }

    private struct Run: Sendable {
        let session: ClientSession
        let server: TestServer
        let folder: ServerDirectory
        let tasks = Locked([Weak]())

        private func request(_ index: Int) -> ClientRequest {
            let path = ["/hello", "/stream/3000000", "/bytes/100000"][index % 3]
            return ClientRequest(.get, server.url(path))
        }

        /// Starts a task, lets it run for a random time, and cancels it.
        func cancelOne(_ index: Int) async {
            let way = Way.allCases[index % Way.allCases.count]
            guard let task = task(way, index) else { return await cancelAwaited(way, index) }
            tasks.withLock { $0.append(Weak(task)) }
            task.resume()
            if index % 7 == 0 { task.suspend() }
            await Self.pause()
            task.cancel()
            _ = try? await task.finished()
        }

        /// The task; nil for the kinds that `cancelAwaited` runs.
        private func task(_ way: Way, _ index: Int) -> TransferTask? {
            let request = request(index / Way.allCases.count)
            switch way {
            case .data, .bytes: return nil
            case .handler: return session.dataTask(for: request) { _, _, _ in }
            case .delegate: return session.dataTask(for: request, delegate: Recorder())
            case .download: return session.downloadTask(for: request, to: folder.path("\(index)"))
            case .upload:
                let pieces = AsyncStream<[UInt8]> { continuation in
                    for _ in 0..<8 { continuation.yield([UInt8](repeating: 1, count: 40_000)) }
                    continuation.finish()
                }
                return session.uploadTask(
                    for: ClientRequest(.post, server.url("/echo")), from: .stream(pieces),
                    delegate: Recorder())
            }
        }

        private func cancelAwaited(_ way: Way, _ index: Int) async {
            let request = request(index / Way.allCases.count)
            let work = Task {
                guard way == .bytes else {
                    _ = try? await session.data(for: request)
                    return
                }
                guard let (content, _) = try? await session.bytes(for: request) else { return }
                tasks.withLock { $0.append(Weak(content.task)) }
                do { for try await _ in content {} } catch {}
            }
            await Self.pause()
            work.cancel()
            await work.value
        }

        private static func pause() async {
            if Bool.random() {
                for _ in 0..<Int.random(in: 0..<200) { await Task.yield() }
            } else {
                try? await Task.sleep(for: .microseconds(Int.random(in: 0..<3_000)))
            }
        }

        /// How many tasks are still in memory.
        var alive: Int { tasks.withLock { $0.count { $0.isAlive } } }
    }

    private func cancel(_ range: Range<Int>, _ run: Run) async {
        await withTaskGroup(of: Void.self) { group in
            for index in range {
                if index - range.lowerBound >= 100 { await group.next() }
                group.addTask { await run.cancelOne(index) }
            }
        }
    }

    @Test("A thousand tasks cancelled at random times all end, and none stays in memory")
    func many() async throws {
        let count = Self.wanted ?? 1_000
        // After this run the descriptors that the libraries keep open are open.
        if Self.wanted != nil { try await end(makeRun()) }
        let before = Files.descriptorCount()
        let start = ContinuousClock.now
        var warm = 0
        do {
            let run = try await makeRun()
            await cancel(0..<(count / 5), run)
            warm = Files.residentBytes()
            await cancel((count / 5)..<count, run)
            let (content, _) = try await run.session.data(
                for: ClientRequest(.get, run.server.url("/hello")))
            #expect(content == Array("hello".utf8))
            try await waitUntil { await run.session.allTasks.isEmpty }
            try await waitUntil { run.alive == 0 }
            #expect(Files.names(run.folder.path).allSatisfy { !$0.hasPrefix(".") })
            await end(run)
        }
        guard Self.wanted != nil else { return }
        // In such a run no other test uses the process.
        for _ in 0..<1_000 where Files.descriptorCount() > before {
            try await Task.sleep(for: .milliseconds(5))
        }
        let (after, end) = (Files.descriptorCount(), Files.residentBytes())
        print(
            "\(count) cancelled in \(start.duration(to: .now)): descriptors \(before) to \(after), "
                + "memory \(warm >> 10) KiB after a fifth, \(end >> 10) KiB at the end")
        #expect(after <= before)
        #expect(end - warm < 16 << 20)
    }

    @Test("Tasks that are never started are released, and so is their session")
    func unstarted() async throws {
        let folder = try ServerDirectory()
        weak var session: ClientSession?
        var tasks: [Weak] = []
        do {
            let made = ClientSession(.ephemeral, delegate: Recorder())
            session = made
            let request = ClientRequest(.get, "http://127.0.0.1/")
            tasks = [
                Weak(made.dataTask(for: request)), Weak(made.dataTask(for: request) { _, _, _ in }),
                Weak(made.downloadTask(for: request, to: folder.path("file"))),
                Weak(made.uploadTask(for: request, from: .text("content"))),
            ]
        }
        #expect(tasks.allSatisfy { !$0.isAlive } && session == nil)
    }

    private func end(_ run: Run) async {
        await cancel(0..<20, run)
        run.session.invalidateAndCancel()
        await run.server.server.shutdown()
    }

    private func makeRun() async throws -> Run {
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 32
        return Run(
            session: ClientSession(configuration), server: try await TestServer(),
            folder: try ServerDirectory())
    }
}
