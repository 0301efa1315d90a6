#if FoundationNetworking
    import Foundation
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A delegate that keeps the metrics.
    private final class Keeper: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
        private let kept = Locked<[URLSessionTaskMetrics]>([])
        var metrics: [URLSessionTaskMetrics] { kept.withLock { $0 } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            kept.withLock { $0.append(metrics) }
        }
    }

    @Suite("Metrics with URLSession's names", .timeLimit(.minutes(3)))
    struct TaskMetricsTests {
        @Test("Metrics have ordered dates, the connection, and the bytes of both directions")
        func metrics() async throws {
            let server = try await SessionServer()
            let keeper = Keeper()
            let session = URLSession(
                configuration: .ephemeral, delegate: keeper, delegateQueue: nil)
            session.sessionDescription = "measured"
            #expect(session.sessionDescription == "measured")
            var request = URLRequest(url: try server.own("/echo"))
            request.httpMethod = "POST"
            request.httpBody = Data("twelve bytes".utf8)
            for count in 1...2 {
                session.dataTask(with: request).resume()
                try await waitUntil { keeper.metrics.count == count }
            }
            for (index, metrics) in keeper.metrics.enumerated() {
                #expect(metrics.redirectCount == 0 && metrics.transactionMetrics.count == 1)
                let transaction = try #require(metrics.transactionMetrics.first)
                #expect(transaction.request.url == request.url)
                #expect(transaction.networkProtocolName == "http/1.1")
                #expect(!transaction.isProxyConnection)
                #expect(transaction.isReusedConnection == (index == 1))
                #expect(transaction.secureConnectionEndDate == nil)
                let dates = [
                    transaction.fetchStartDate, transaction.domainLookupEndDate,
                    transaction.connectEndDate, transaction.requestStartDate,
                    transaction.requestEndDate, transaction.responseStartDate,
                    transaction.responseEndDate,
                ].compactMap(\.self)
                #expect(dates.count >= (index == 0 ? 7 : 5))
                #expect(dates == dates.sorted())
                // The dates are rounded to the precision of `Date`.
                let span = metrics.taskInterval
                let (first, last) = (try #require(dates.first), try #require(dates.last))
                #expect(first.timeIntervalSince(span.start) > -0.001)
                #expect(last.timeIntervalSince(span.end) < 0.001)
                #expect(transaction.countOfRequestBodyBytesSent == 12)
                #expect(transaction.countOfResponseBodyBytesReceived == 12)
                #expect(transaction.countOfRequestHeaderBytesSent > 40)
                #expect(transaction.countOfResponseHeaderBytesReceived > 40)
                #expect(transaction.remoteAddress == "127.0.0.1")
                #expect(transaction.remotePort == request.url?.port)
                #expect(transaction.localAddress == "127.0.0.1" && transaction.localPort != nil)
            }
            session.invalidateAndCancel()
        }

        @Test("The dates of a request that follows a redirect come after those of the first one")
        func redirected() async throws {
            var router = Router()
            router.get("/next") { _ in Response(.noContent) }
            let first = AsyncHandler { _ in
                // Much longer than the second request takes.
                try await Task.sleep(for: .milliseconds(300))
                return Response(.found, fields: [.location: "/next"])
            }
            router.route(.get, "/first", to: first)
            let server = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0), handler: router)
            try await server.start()
            let port = try #require(server.addresses.first?.port)
            let keeper = Keeper()
            let session = URLSession(
                configuration: .ephemeral, delegate: keeper, delegateQueue: nil)
            session.dataTask(with: try #require(URL(string: "http://127.0.0.1:\(port)/first")))
                .resume()
            try await waitUntil { keeper.metrics.count == 1 }
            let transactions = keeper.metrics[0].transactionMetrics
            try #require(transactions.count == 2)
            let answered = try #require(transactions[0].responseStartDate)
            for date in [transactions[1].requestStartDate, transactions[1].responseEndDate] {
                #expect(try #require(date) > answered.addingTimeInterval(-0.001))
            }
            #expect(
                try #require(transactions[1].responseEndDate)
                    <= keeper.metrics[0].taskInterval.end.addingTimeInterval(0.001))
            session.invalidateAndCancel()
            await server.shutdown()
        }

        @Test("Running tasks are listed by their kinds")
        func tasks() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let url = try server.own("/silent")
            let data = session.dataTask(with: url)
            let upload = session.uploadTask(with: URLRequest(url: url), from: Data([1]))
            let download = session.downloadTask(with: url)
            session.dataTask(with: url).suspend()
            for task in [data, upload, download] { task.resume() }
            let kinds = await withCheckedContinuation { continuation in
                session.getTasksWithCompletionHandler {
                    continuation.resume(returning: ($0, $1, $2))
                }
            }
            #expect(kinds.0 == [data] && kinds.1 == [upload] && kinds.2 == [download])
            session.invalidateAndCancel()
        }
    }
#endif
