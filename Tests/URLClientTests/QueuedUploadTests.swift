import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Uploads that wait for a connection", .timeLimit(.minutes(2)))
struct QueuedUploadTests {
    /// How a file is sent.
    enum Way: CaseIterable { case content, form }

    private static func body(_ way: Way, _ path: String) throws -> ClientBody {
        guard way == .form else { return .file(path) }
        var form = ClientForm()
        try form.append("file", file: path)
        return .multipart(form)
    }

    /// A session that sends one request at a time.
    private static var session: ClientSession {
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 1
        return ClientSession(configuration)
    }

    /// Responds only after the gate is open.
    private static func peer(
        _ gate: Gate, _ contents: Locked<[[UInt8]]>
    ) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                gate.wait()
                let length = ResumeRequest.value("content-length", head).flatMap { Int($0) } ?? 0
                let content = connection.content(length)
                guard content.count == length else { return }
                contents.withLock { $0.append(content) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    @Test(
        "Waiting uploads hold no descriptors, and send their files completely",
        arguments: Way.allCases)
    func descriptors(_ way: Way) async throws {
        let (gate, contents) = (Gate(), Locked([[UInt8]]()))
        let peer = try Self.peer(gate, contents)
        let folder = try ServerDirectory()
        let content = TestServer.pattern(1_000)
        try folder.write("data", content)
        let session = Self.session
        let request = ClientRequest(
            .put, peer.url(), body: try Self.body(way, folder.path("data")))
        let tasks = (0..<20).map { _ in session.dataTask(for: request) }
        for task in tasks { task.resume() }
        // All but the first one are in the queue.
        try await waitUntil { tasks.allSatisfy { $0.countOfBytesExpectedToSend != nil } }
        #expect(Files.descriptorCount(below: folder.path) <= 1)
        gate.open()
        for task in tasks { try await task.finished() }
        let received = contents.withLock { $0 }
        #expect(received.count == 20)
        #expect(way == .form || received.allSatisfy { $0 == content })
        #expect(received.allSatisfy { $0.count == received[0].count })
        #expect(await soon { Files.descriptorCount(below: folder.path) == 0 })
    }

    @Test(
        "A shortened, removed or replaced file is an error; a longer one is sent as announced",
        arguments: [
            ("shorter", .bodyFailed), ("gone", .cannotOpenFile), ("longer", nil),
            ("replaced", .bodyFailed),
        ] as [(String, ClientError.Kind?)])
    func changed(_ change: String, _ kind: ClientError.Kind?) async throws {
        let (gate, contents) = (Gate(), Locked([[UInt8]]()))
        let peer = try Self.peer(gate, contents)
        let folder = try ServerDirectory()
        let content = TestServer.pattern(1_000)
        try folder.write("data", content)
        let session = Self.session
        let first = session.dataTask(for: ClientRequest(.get, peer.url()))
        let second = session.dataTask(
            for: ClientRequest(.put, peer.url(), body: .file(folder.path("data"))))
        first.resume()
        second.resume()
        try await waitUntil { second.countOfBytesExpectedToSend != nil }
        switch change {
        case "shorter": try folder.write("data", Array(content[..<999]))
        case "longer": try folder.write("data", content + [1])
        case "replaced":
            try folder.write("new", content + [1])
            #expect(Files.replace(folder.path("data"), by: folder.path("new")))
        default: #expect(Files.remove(folder.path("data")))
        }
        gate.open()
        try await first.finished()
        let error = await failure { try await second.finished() }
        #expect(error?.kind == kind, "\(String(describing: error))")
        #expect(error?.isSafeToRetry ?? true)
        let expected: [[UInt8]] = kind == nil ? [[], content] : [[]]
        #expect(contents.withLock { $0 } == expected)
    }
}
