import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPToolkitTesting
import Testing

@Suite("Recorded exchanges, in memory")
struct ExchangeReplayTests {
    private func exchange(pieces: [RecordedExchange.Piece] = []) -> RecordedExchange {
        RecordedExchange(
            number: 1, method: "POST", status: 200,
            request: Array(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi".utf8),
            response: Array(
                "HTTP/1.1 200 OK\r\nX-Kind: echo\r\nContent-Length: 2\r\n\r\nhi".utf8),
            pieces: pieces)
    }

    private func application(_ kind: String = "echo") -> TestApplication {
        var configuration = ServerConfiguration()
        configuration.serverName = ""
        let handler = AsyncHandler { request in
            let content = try await request.body.collect()
            return Response(.ok, fields: ["X-Kind": kind], body: .bytes(content, mediaType: ""))
        }
        return TestApplication(handler, configuration: configuration)
    }

    @Test("An equal response has no differences, wherever the request is split")
    func same() async throws {
        let count = exchange().request.count
        for place in 1..<count {
            let split = exchange(pieces: [
                .init(isRequest: true, milliseconds: 0, count: place),
                .init(isRequest: true, milliseconds: 1, count: count - place),
            ])
            let found = try await ExchangeReplay().differences(split, in: application())
            #expect(found == [], "split at \(place)")
        }
    }

    @Test("A field that differs from the recorded one is reported, unless it is ignored")
    func other() async throws {
        let found = try await ExchangeReplay().differences(exchange(), in: application("other"))
        #expect(found == ["x-kind: [\"echo\"] became [\"other\"]"])
        var replay = ExchangeReplay()
        replay.ignoredFields.insert("x-kind")
        #expect(try await replay.differences(exchange(), in: application("other")) == [])
    }

    @Test(
        "An incomplete request is reported if the application waits for the rest",
        .timeLimit(.minutes(1)),
        arguments: [
            "", "POST /echo HTTP/1.1\r\nHost: a\r\n",
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
        ])
    func cutRequest(_ request: String) async throws {
        var recorded = exchange()
        recorded.request = Array(request.utf8)
        var replay = ExchangeReplay()
        replay.cutRequestLimit = .milliseconds(100)
        let found = try await replay.differences(recorded, in: application())
        #expect(found == ["the request is not whole"])
    }

    @Test("A response to an incomplete or invalid request is compared")
    func earlyAnswer() async throws {
        var recorded = exchange()
        recorded.request = Array(
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab".utf8)
        let handler = SyncHandler { _ in
            Response(.ok, fields: ["X-Kind": "echo"], body: .bytes(Array("hi".utf8), mediaType: ""))
        }
        var configuration = ServerConfiguration()
        configuration.serverName = ""
        let early = TestApplication(handler, configuration: configuration)
        #expect(try await ExchangeReplay().differences(recorded, in: early) == [])
        recorded.request = Array("POST /echo\r\n\r\n".utf8)
        let found = try await ExchangeReplay().differences(recorded, in: early)
        #expect(found.first == "status 200 became 400")
    }

    @Test("A response without the recorded content is reported")
    func nothing() async throws {
        var recorded = exchange()
        recorded.request = Array("POST /echo HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let found = try await ExchangeReplay().differences(recorded, in: application())
        #expect(found == ["content of 2 became one of 0 bytes, different from byte 0 on"])
    }
}
