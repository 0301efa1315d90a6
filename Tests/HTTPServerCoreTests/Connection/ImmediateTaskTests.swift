import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// `Task.immediate` runs the beginning of an async closure within the call of a handler, whose
/// connection is about to write into the buffer that the loop's connections share.
@Suite("Handlers that begin a task at once")
struct ImmediateTaskTests {
    @Test("The output of another connection, and the answers before, go where they belong")
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    func otherConnection() async throws {
        let streams = Locked<[ResponseWriter]>([])
        let end = ServerGate()
        var router = Router()
        router.on(.get, "/stream") { _ in
            Response(
                .ok,
                body: .stream { writer in
                    streams.withLock { $0.append(writer) }
                    try await writer.write("begin")
                    await end.wait()
                })
        }
        router.on(.get, "/mine") { _ in Response(.ok, body: .text("mine")) }
        router.on(.post, "/push") { _ in
            guard let writer = streams.withLock({ $0.first }) else { return Response(.conflict) }
            Task.immediate { try await writer.write("pushed") }
            return Response(.ok, body: .text("done"))
        }
        let listener = MemoryConnection(router)
        listener.send(Sample.get("/stream"))
        try await listener.output("begin")
        let client = MemoryConnection(router)
        client.send(Sample.get("/mine") + "POST /push HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.output("done").text == Sample.ok("mine") + Sample.ok("done"))
        let record = try await listener.output("pushed")
        #expect(!record.text.contains("mine"))
        end.open()
        try await listener.output("0\r\n\r\n")
    }
}
