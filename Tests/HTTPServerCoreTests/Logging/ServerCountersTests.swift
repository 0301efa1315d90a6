import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Counters")
struct ServerCountersTests {
    @Test("Requests, bytes, durations and connections are counted")
    func counts() async throws {
        let counters = ServerCounters()
        let records = ServerLog<AccessRecord>()
        let configuration = ServerConfiguration.test {
            $0.metrics = counters
            $0.accessLog = { records.add($0) }
        }
        let handler = SyncHandler { request in
            if request.path == "/bad" { throw HTTPError(.notFound) }
            return Response(.ok, body: .text("abc"))
        }
        let client = MemoryConnection(handler, configuration: configuration)
        client.send(Sample.get("/1") + Sample.get("/2") + Sample.get("/bad"))
        try await client.output("404 Not Found")
        await client.settle()
        #expect(counters.figures.openConnections == 1)
        #expect(counters.figures.connections == 1)
        client.end()
        let record = try await client.closed()
        for method in ["FROB", "FREB", "FRAB"] {
            _ = try await exchange(handler, method, configuration: configuration)
        }
        _ = try await exchange(handler, "bad\u{1}", configuration: configuration)
        let figures = counters.figures
        #expect(figures.openConnections == 0)
        #expect(figures.connections == 5)
        #expect(figures.bytesSent > Int64(record.output.count))
        #expect(figures.bytesReceived > Int64(record.received))
        #expect(
            figures.requests == [
                .init(method: "GET", statusClass: 2): 2, .init(method: "GET", statusClass: 4): 1,
                .init(method: "other", statusClass: 2): 3,
                .init(method: "other", statusClass: 4): 1,
            ])
        #expect(figures.durations.count == ServerCounters.durationBounds.count + 1)
        #expect(figures.durations.reduce(0, +) == 7)
        let durations = records.entries.map(\.duration)
        #expect(durations.count == 7 && durations.contains { $0 > .zero })
        #expect(figures.totalDuration == durations.reduce(.zero, +))
        #expect(figures.cutShort == 0)
    }

    @Test("An incomplete response is counted as cut short")
    func cutShort() async throws {
        let counters = ServerCounters()
        let client = MemoryConnection(
            AsyncHandler { _ in
                await ServerGate().wait()
                return Response(.ok)
            }, configuration: .test { $0.metrics = counters })
        client.send(Sample.get("/"))
        await client.settle()
        client.hangUp()
        try await client.closed()
        await client.settle()
        #expect(counters.figures.cutShort == 1)
    }
}
