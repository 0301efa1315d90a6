import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Handler registry")
struct HandlerRegistryTests {
    /// Accepts paths that begin with a text, and answers with a name.
    private struct Named: SelectiveHandler {
        let prefix: String
        let name: String

        func accepts(_ request: Request) -> Bool { request.path.hasPrefix(prefix) }

        func answer(_ request: Request) -> Answer { .now(.text(name)) }
    }

    @Test("The accepting handler with the highest priority answers, the newest of equal ones")
    func priorities() async throws {
        let registry = HandlerRegistry()
        registry.register(Named(prefix: "/a", name: "low"), priority: -1)
        registry.register(Named(prefix: "/a/b", name: "older"))
        registry.register(Named(prefix: "/a/b", name: "newer"))
        registry.register(Named(prefix: "/a/b/c", name: "high"), priority: 9)
        let client = MemoryConnection(registry)
        for (path, name) in [("/a", "low"), ("/a/b", "newer"), ("/a/b/c", "high")] {
            client.send(Sample.get(path))
            try await client.output(Sample.ok(name))
        }
        client.send(Sample.get("/x"))
        try await client.output("HTTP/1.1 404 ")
        registry.register(Named(prefix: "/x", name: "late"))
        client.send(Sample.get("/x"))
        try await client.output(Sample.ok("late"))
    }
}
