import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// `Task.immediate` runs the beginning of an async closure within the handler's call. The handler's
/// connection is about to write into a buffer that all connections of the loop share.
@Suite("Handlers that start an immediate task")
struct ImmediateTaskTests {
    @Test("Writing to another connection from a handler or a log does not mix the outputs")
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
        let configuration = ServerConfiguration.test {
            $0.accessLog = { record in
                guard record.target == "/log", let writer = streams.withLock({ $0.first }) else {
                    return
                }
                Task.immediate { try await writer.write("logged") }
            }
        }
        let client = MemoryConnection(router, configuration: configuration)
        client.send(Sample.get("/mine") + "POST /push HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try await client.output("done").text == Sample.ok("mine") + Sample.ok("done"))
        router.on(.get, "/log") { _ in Response(.ok, body: .text("log")) }
        let logged = MemoryConnection(router, configuration: configuration)
        logged.send(Sample.get("/log") + Sample.get("/mine"))
        #expect(try await logged.output("mine").text == Sample.ok("log") + Sample.ok("mine"))
        try await listener.output("logged")
        let record = try await listener.output("pushed")
        #expect(!record.text.contains("mine"))
        end.open()
        try await listener.output("0\r\n\r\n")
    }
}
