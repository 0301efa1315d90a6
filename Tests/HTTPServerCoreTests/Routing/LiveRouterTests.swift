import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Routes that change while a server runs")
struct LiveRouterTests {
    private struct Refused: Error {}

    @Test("A change applies to the next request, and not to earlier copies")
    func changes() async throws {
        let live = LiveRouter()
        live.update { $0.route(.get, "/a", to: RouterTests.named("old")) }
        let before = live.router
        live.update { $0.route(.get, "/a", to: RouterTests.named("new")) }
        let request = RouterTests.request("GET", "/a")
        #expect(try await RouterTests.answer(live, request).text == "new a ")
        #expect(try await RouterTests.answer(before, request).text == "old a ")
    }

    @Test("A change that fails changes nothing")
    func failure() async throws {
        let live = LiveRouter()
        #expect(throws: Refused.self) {
            try live.update { router throws(Refused) in
                router.route(.get, "/a", to: RouterTests.named("a"))
                throw Refused()
            }
        }
        let answer = try await RouterTests.answer(live, RouterTests.request("GET", "/a"))
        #expect(answer.status == 404)
    }

    @Test("Changes made at the same time are all kept")
    func concurrentChanges() async throws {
        let live = LiveRouter()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for index in 0..<50 {
                        live.update { $0.on(.get, "/\(task)/\(index)") { _ in .text("x") } }
                    }
                }
            }
        }
        for path in ["/0/0", "/3/25", "/7/49"] {
            let answer = try await RouterTests.answer(live, RouterTests.request("GET", path))
            #expect(answer.status == 200)
        }
    }

    @Test("All requests are answered while routes are added")
    func underLoad() async throws {
        let live = LiveRouter()
        live.update { $0.route(.get, "/", to: RouterTests.named("root")) }
        let client = MemoryConnection(live)
        let count = 2_000
        async let changing: Void = {
            for index in 0..<500 {
                live.update { $0.route(.get, "/\(index)/:id", to: RouterTests.named("\(index)")) }
            }
        }()
        for _ in 0..<count / 20 {
            client.send(String(repeating: RouterTests.request("GET", "/"), count: 20))
        }
        await changing
        let record = try await client.output("root", times: count)
        #expect(
            ServerAnswer.all(record.output).map(\.status) == Array(repeating: 200, count: count))
        let last = try await RouterTests.answer(live, RouterTests.request("GET", "/499/x"))
        #expect(last.text == "499 499|x x")
    }
}
