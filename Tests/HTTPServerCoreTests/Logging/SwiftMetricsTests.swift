#if Metrics
    import CoreMetrics
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import MetricsTestKit
    import TestSupport
    import Testing

    @Suite("swift-metrics")
    struct SwiftMetricsTests {
        @Test("The figures of a server are reported to swift-metrics")
        func figures() async throws {
            let system = TestMetrics()
            let configuration = ServerConfiguration.test {
                $0.metrics = SwiftMetrics(prefix: "test_", factory: system)
            }
            let client = MemoryConnection(Sample.target, configuration: configuration)
            client.send(Sample.get("/1") + Sample.get("/2"))
            try await client.output("200 OK", times: 2)
            await client.settle()
            #expect(try system.expectMeter("test_connections_active").lastValue == 1)
            client.send("FROB / HTTP/1.1\r\nHost: a\r\n\r\n")
            client.end()
            let record = try await client.closed()
            await client.settle()
            #expect(try system.expectMeter("test_connections_active").lastValue == 0)
            let own = [("method", "GET"), ("status", "2xx")]
            #expect(try system.expectCounter("test_requests_total", own).totalValue == 2)
            #expect(
                try system.expectTimer("test_request_duration_seconds", own).values.count == 2)
            let other = [("method", "other"), ("status", "2xx")]
            #expect(try system.expectCounter("test_requests_total", other).totalValue == 1)
            #expect(try system.expectCounter("test_connections_total").totalValue == 1)
            #expect(
                try system.expectCounter("test_sent_bytes_total").totalValue
                    == Int64(record.output.count))
            #expect(
                try system.expectCounter("test_received_bytes_total").totalValue
                    == Int64(record.received))
        }
    }
#endif
