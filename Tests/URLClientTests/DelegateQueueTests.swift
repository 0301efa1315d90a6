import Dispatch
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("The queue of a delegate", .timeLimit(.minutes(2)))
struct DelegateQueueTests {
    private static let key = DispatchSpecificKey<String>()

    private func queue(_ attributes: DispatchQueue.Attributes) -> DispatchQueue {
        let queue = DispatchQueue(label: "delegate", attributes: attributes)
        queue.setSpecific(key: Self.key, value: "delegate")
        return queue
    }

    /// Records the queue of each call, and calls that overlap.
    private final class Watcher: ClientSessionDelegate {
        let calls = Locked([String: Int]())
        let faults = Locked([String]())
        private let depth = Locked(0)

        private func note(_ name: String) {
            let isAlone = depth.withLock { depth in
                depth += 1
                return depth == 1
            }
            let place = DispatchQueue.getSpecific(key: DelegateQueueTests.key)
            if place != "delegate" { faults.withLock { $0.append("\(name) elsewhere") } }
            if !isAlone { faults.withLock { $0.append("\(name) beside another") } }
            calls.withLock { $0[name, default: 0] += 1 }
            Pause.milliseconds(1)
            depth.withLock { $0 -= 1 }
        }

        func sessionDidBecomeInvalid() { note("invalid") }

        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            note("redirect")
            return request
        }

        func task(
            _ task: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition {
            note("response")
            return .allow
        }

        func task(_ task: TransferTask, didSend progress: TransferProgress) { note("sent") }
        func task(_ task: TransferTask, didReceiveContent content: [UInt8]) { note("content") }
        func task(_ task: TransferTask, didCollect metrics: ClientMetrics) { note("metrics") }
        func task(_ task: TransferTask, didCompleteWith error: ClientError?) { note("complete") }
    }

    @Test("Delegate methods run on the queue, one at a time, also on a concurrent queue")
    func place() async throws {
        let server = try await TestServer { _, router in
            router.route(
                .post, "/first",
                to: AsyncHandler { _ in
                    Response(.temporaryRedirect, fields: [.location: "/echo"])
                })
        }
        for attributes in [[], DispatchQueue.Attributes.concurrent] {
            let watcher = Watcher()
            let session = ClientSession(
                .ephemeral, delegate: watcher, delegateQueue: queue(attributes))
            let tasks = (0..<20).map { _ in
                session.uploadTask(
                    for: ClientRequest(.post, server.url("/first")), from: .text("content"))
            }
            for task in tasks { task.resume() }
            for task in tasks { #expect(try await task.finished().status == .ok) }
            session.finishTasksAndInvalidate()
            try await waitUntil { watcher.calls.withLock { $0["invalid"] != nil } }
            #expect(watcher.faults.withLock { $0 } == [])
            let calls = watcher.calls.withLock { $0 }
            for name in ["redirect", "response", "content", "metrics", "complete"] {
                #expect(calls[name] == 20, "\(name)")
            }
            #expect(calls["sent", default: 0] > 0 && calls["invalid"] == 1)
        }
    }

    @Test("Completion handlers are called on the delegate's queue, too")
    func handlers() async throws {
        let server = try await TestServer()
        let session = ClientSession(.ephemeral, delegateQueue: queue([]))
        let request = ClientRequest(.get, server.url("/hello"))
        let places = Locked([String?]())
        let note: @Sendable () -> Void = {
            let place = DispatchQueue.getSpecific(key: Self.key)
            places.withLock { $0.append(place) }
        }
        session.dataTask(for: request) { _, _, _ in note() }.resume()
        session.downloadTask(for: request) { _, _, _ in note() }.resume()
        var post = request
        post.method = .post
        session.uploadTask(for: post, from: .text("x")) { _, _, _ in note() }.resume()
        try await waitUntil { places.withLock { $0.count >= 3 } }
        #expect(places.withLock { $0 } == ["delegate", "delegate", "delegate"])
    }

    /// Changes the request of each redirect.
    private final class Changer: ClientSessionDelegate {
        func task(
            _ task: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            var request = ClientRequest(.get, request.url.absoluteString + "?changed")
            request.fields["X-Changed"] = "yes"
            return request
        }
    }

    @Test("A delegate can change the request that follows a redirect")
    func changedRedirect() async throws {
        let server = try await TestServer { _, router in
            router.on(.get, "/first") { _ in .redirect(to: "/echo") }
        }
        let session = ClientSession(.ephemeral, delegate: Changer())
        let task = session.dataTask(for: ClientRequest(.get, server.url("/first")))
        let response = try await task.finished()
        #expect(response.url.absoluteString == server.url("/echo?changed"))
        #expect(task.currentRequest.url == response.url)
        #expect(task.originalRequest.url.absoluteString == server.url("/first"))
        #expect(server.seen("/echo?changed").first?.fields["X-Changed"] == "yes")
    }
}
