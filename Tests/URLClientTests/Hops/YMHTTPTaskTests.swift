import HTTPCodecs
import HTTPParser
import HTTPServerCore
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The cases of YMHTTP's TestURLSession and TestURLSessionCache, in meaning.

@Suite("YMHTTP: tasks", .timeLimit(.minutes(3)))
struct YMHTTPTaskTests {
    private static let methods: [HTTPMethod] = [.get, .post, .put, .delete]

    private func completed(_ task: TransferTask, _ delegate: Recorder) async -> [String] {
        task.resume()
        await delegate.wait { $0.last?.hasPrefix("complete") == true }
        return delegate.log.filter { $0 != "sent" && !$0.hasPrefix("content") }
    }

    @Test("Data task by URL and by request, with a delegate and with a handler")
    func dataTasks() async throws {
        let bin = try await BinServer()
        let delegate = Recorder()
        let session = ClientSession(bin.session.configuration, delegate: delegate)
        let log = await completed(session.dataTask(for: bin.request(.get, "/get?a=b")), delegate)
        #expect(log == ["response 200", "metrics", "complete"])
        let (content, status) = await withCheckedContinuation { continuation in
            session.dataTask(for: bin.request(.get, "/get?a=b")) { content, response, error in
                continuation.resume(returning: (content, error == nil ? response?.status : nil))
            }.resume()
        }
        #expect(status == .ok && !content.isEmpty)
        #expect(try await bin.send(.get, "/get?a=b").echo?.args == ["a": "b"])
    }

    @Test("Stream, bytes and no content, by each method, with and without Content-Type")
    func bodies() async throws {
        let bin = try await BinServer()
        for method in Self.methods {
            let path = "/\(method.name.lowercased())"
            for type in [nil, "text/x"] as [String?] {
                let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
                let stream = ClientBody.stream(OneElement(Array("body".utf8)))
                for body in [stream, .bytes(Array("body".utf8)), .bytes([]), .none] {
                    let isEmpty = body.isNone || body.length == 0
                    if method == .get, !body.isNone {
                        let error = await bin.failure(
                            bin.request(method, path, fields: fields, body: body))
                        #expect(error?.urlErrorCode == -1103)
                        continue
                    }
                    let answer = try await bin.send(method, path, fields: fields, body: body)
                    #expect(answer.status == 200)
                    if method != .get { #expect(answer.echo?.data == (isEmpty ? "" : "body")) }
                    if let type { #expect(answer.echo?.headers?["Content-Type"] == type) }
                }
            }
        }
    }

    @Test("gzip, as data and as a download")
    func gzip() async throws {
        let bin = try await BinServer()
        let answer = try await bin.send(.get, "/gzip")
        #expect(answer.status == 200 && answer.text.contains("gzipped"))
        let path = TemporaryPath()
        let response = try await bin.session.download(
            for: bin.request(.get, "/gzip", fields: [.acceptEncoding: "gzip"]), to: path.text)
        #expect(response.status == .ok)
        let text = String(decoding: Files.read(path.text) ?? [], as: UTF8.self)
        #expect(text.contains("gzipped"))
    }

    @Test("Downloads with a delegate and with a handler")
    func downloads() async throws {
        let bin = try await BinServer()
        let delegate = Recorder()
        let session = ClientSession(bin.session.configuration, delegate: delegate)
        let task = session.downloadTask(for: bin.request(.get, "/image/jpeg"))
        let log = await completed(task, delegate).filter { $0 != "wrote" }
        #expect(log == ["response 200", "file", "metrics", "complete"])
        let path = TemporaryPath()
        _ = try await bin.session.download(for: bin.request(.get, "/bytes/1000"), to: path.text)
        #expect(Files.read(path.text)?.count == 1_000)
    }

    @Test("A bad URL, an unsupported scheme: one error, one callback")
    func badURLs() async throws {
        for (url, code) in [("http://192.168.0.1:-1/", -1000), ("ftp://127.0.0.1/", -1002)] {
            let delegate = Recorder()
            let session = ClientSession(.ephemeral, delegate: delegate)
            let task = session.dataTask(for: ClientRequest(.get, url))
            let log = await completed(task, delegate)
            #expect(log.filter { $0.hasPrefix("complete") }.count == 1)
            #expect(task.error?.urlErrorCode == code)
        }
    }

    @Test("Fields of the request win over those of the session, in any case")
    func fields() async throws {
        let bin = try await BinServer { configuration in
            configuration.additionalFields = ["X-One": "session", "x-two": "session"]
        }
        let answer = try await bin.send(.get, "/headers", fields: ["x-one": "request"])
        #expect(answer.echo?.headers?["X-One"] == "request")
        #expect(answer.echo?.headers?["X-Two"] == "session")
    }

    @Test("A limit of time")
    func timeout() async throws {
        let bin = try await BinServer()
        var request = bin.request(.get, "/delay/10")
        request.timeouts = ClientTimeouts(idle: .milliseconds(200))
        #expect(await bin.failure(request)?.urlErrorCode == -1001)
    }

    @Test("Ten at once, fifty one after the other, status 999, no Content-Length")
    func many() async throws {
        let bin = try await BinServer()
        let sizes = try await withThrowingTaskGroup(of: Int.self) { group in
            for count in 1...10 {
                group.addTask { try await bin.send(.get, "/bytes/\(count)").content.count }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(sizes == Set(1...10))
        for count in 0..<50 {
            #expect(try await bin.send(.get, "/bytes/\(count)").content.count == count)
        }
        #expect(try await bin.send(.get, "/status/999").status == 999)
        #expect(try await bin.send(.get, "/stream-bytes/2048").content.count == 2_048)
    }

    @Test("Uploads: simple, and by a stream that the delegate gives")
    func uploads() async throws {
        let bin = try await BinServer()
        let large = String(repeating: "u", count: 300_000)
        let (content, _) = try await bin.session.upload(
            for: bin.request(.put, "/put"), from: .text(large))
        let echo = try JSONBody().decode(BinServer.Echo.self, from: content)
        #expect(echo.data == large)
        let delegate = BodyGiver()
        for method in [HTTPMethod.post, .put, .delete] {
            let session = ClientSession(.ephemeral, delegate: delegate)
            let task = session.uploadTask(
                for: bin.request(method, "/\(method.name.lowercased())"), from: nil)
            task.resume()
            await delegate.gate.opened()
            #expect(task.error == nil && task.response?.status == .ok)
        }
        #expect(delegate.count.withLock { $0 } == 3)
    }

    private final class BodyGiver: ClientSessionDelegate {
        let count = Locked(0)
        let gate = Ended()

        func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody {
            count.withLock { $0 += 1 }
            return .stream(OneElement(Array("given".utf8)))
        }

        func task(_ task: TransferTask, didCompleteWith error: ClientError?) { gate.end() }
    }

    /// Counts what has ended.
    private final class Ended: Sendable {
        private let count = Locked(0)
        func end() { count.withLock { $0 += 1 } }
        func opened() async {
            while true {
                let isThere = count.withLock { count in
                    guard count > 0 else { return false }
                    count -= 1
                    return true
                }
                if isThere || Task.isCancelled { return }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    // MARK: cookies

    @Test("Cookies are stored and sent later, the last of the same name wins")
    func cookies() async throws {
        let bin = try await BinServer()
        let set = "/response-headers?Set-Cookie=a%3D1%3B%20path%3D/&Set-Cookie=a%3D2%3B%20path%3D/"
        _ = try await bin.send(.get, set)
        #expect(bin.cookies.cookies.map(\.value) == ["2"])
        #expect(try await bin.send(.get, "/cookies").echo?.cookies == ["a": "2"])
        // Set by a redirect, sent with what it leads to.
        let answer = try await bin.send(.get, "/cookies/set?b=3")
        #expect(answer.echo?.cookies == ["a": "2", "b": "3"])
    }

    @Test("Cookies can be switched off: by the session, a request, the policy, and having none")
    func noCookies() async throws {
        let off = try await BinServer { $0.setsCookies = false }
        let none = try await BinServer { $0.cookies = nil }
        let never = try await BinServer()
        never.cookies.acceptPolicy = .never
        for bin in [off, none, never] {
            let answer = try await bin.send(.get, "/cookies/set?b=3")
            #expect(answer.echo?.cookies == [:])
            #expect(bin.cookies.cookies.isEmpty)
        }
        let own = try await off.send(.get, "/cookies", fields: [.cookie: "mine=1"])
        #expect(own.echo?.cookies == ["mine": "1"])
        let bin = try await BinServer()
        _ = try await bin.send(.get, "/cookies/set?b=3")
        var request = bin.request(.get, "/cookies")
        request.usesCookies = false
        let (content, _) = try await bin.session.data(for: request)
        #expect(try JSONBody().decode(BinServer.Echo.self, from: content).cookies == [:])
    }

    // MARK: cache

    @Test("The cases of the cache: protocol, ignoring, else load, don't load")
    func cache() async throws {
        let bin = try await BinServer()
        func get(_ policy: CachePolicy) async throws -> ClientResponse {
            var request = bin.request(.get, "/cache/1000")
            request.cachePolicy = policy
            return try await bin.session.data(for: request).1
        }
        await #expect(throws: ClientError.self) { try await get(.returnCacheDataDontLoad) }
        #expect(try await !get(.useProtocolCachePolicy).isFromCache)
        #expect(try await get(.useProtocolCachePolicy).isFromCache)
        #expect(try await !get(.reloadIgnoringLocalCacheData).isFromCache)
        #expect(try await get(.returnCacheDataElseLoad).isFromCache)
        #expect(try await get(.returnCacheDataDontLoad).isFromCache)
        await bin.session.reset()
        #expect(try await !get(.returnCacheDataElseLoad).isFromCache)
    }

    @Test("A response that the delegate cancels")
    func cancelledResponse() async throws {
        let bin = try await BinServer()
        let delegate = Recorder(.cancel)
        let session = ClientSession(bin.session.configuration, delegate: delegate)
        let task = session.dataTask(for: bin.request(.get, "/cache/1000"))
        _ = await completed(task, delegate)
        #expect(task.error?.urlErrorCode == -999)
        #expect(bin.cache.memoryByteCount == 0)
    }
}
