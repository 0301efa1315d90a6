import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// The cases of YMHTTP's TestURLSession and TestURLSessionCache, adapted to this client.

@Suite("YMHTTP: tasks", .timeLimit(.minutes(3)))
struct YMHTTPTaskTests {
    private static let methods: [HTTPMethod] = [.get, .post, .put, .delete]

    private func completed(_ task: TransferTask, _ delegate: Recorder) async -> [String] {
        task.resume()
        await delegate.wait { $0.last?.hasPrefix("complete") == true }
        return delegate.order.filter { $0 != "sent" }
    }

    /// A request with only a URL, and a request with a header field.
    private func requests(_ bin: BinServer, _ path: String) throws -> [ClientRequest] {
        let url = try #require(URL(string: bin.url(path)))
        return [ClientRequest(.get, url), bin.request(.get, path, fields: [.accept: "text/x"])]
    }

    @Test("Data task by URL and by request, with a delegate and with a handler")
    func dataTasks() async throws {
        let bin = try await BinServer()
        for request in try requests(bin, "/get?a=b") {
            let delegate = Recorder()
            let session = ClientSession(bin.session.configuration, delegate: delegate)
            let log = await completed(session.dataTask(for: request), delegate)
            #expect(log == ["response 200", "content", "metrics", "complete"])
            let told = delegate.size.withLock { $0 }
            let (content, status) = await withCheckedContinuation { continuation in
                session.dataTask(for: request) { content, response, error in
                    continuation.resume(
                        returning: (content, error == nil ? response?.status : nil))
                }.resume()
            }
            let echo = try JSONBody().decode(BinServer.Echo.self, from: content)
            #expect(status == .ok && echo.args == ["a": "b"] && told == content.count)
            // The delegate is not notified of content that a handler gets.
            #expect(delegate.size.withLock { $0 } == told)
        }
    }

    @Test("All methods send streams, bytes and no content, except that GET with content is refused")
    func bodies() async throws {
        let bin = try await BinServer()
        for method in Self.methods {
            let path = "/\(method.name.lowercased())"
            for type in [nil, "text/x"] as [String?] {
                let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
                let stream = ClientBody.stream(OneElement(Array("body".utf8)))
                for body in [stream, .bytes(Array("body".utf8)), .bytes([]), .none] {
                    let isEmpty = body.length == 0
                    if method == .get, !isEmpty {
                        let error = await bin.failure(
                            bin.request(method, path, fields: fields, body: body))
                        #expect(error?.urlErrorCode == -1103)
                        continue
                    }
                    let answer = try await bin.send(method, path, fields: fields, body: body)
                    #expect(answer.status == 200)
                    if method != .get { #expect(answer.echo?.data == (isEmpty ? "" : "body")) }
                    #expect(answer.echo?.headers?["Content-Type"] == type)
                }
            }
        }
    }

    @Test(
        "Content: the delegate gets each event once and in order",
        arguments: [nil, "text/x"] as [String?])
    func bodyOrder(_ type: String?) async throws {
        let bin = try await BinServer()
        let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        for method in Self.methods {
            let delegate = Recorder()
            let session = ClientSession(bin.session.configuration, delegate: delegate)
            let request = bin.request(method, "/\(method.name.lowercased())", fields: fields)
            let task = session.uploadTask(
                for: request, from: .stream(OneElement(Array("body".utf8))))
            task.resume()
            session.finishTasksAndInvalidate()
            await delegate.wait { $0.last == "invalid" }
            // Before content of unknown length, the client asks with `Expect`.
            let log = delegate.order.filter { $0 != "interim 100" }
            #expect(
                log
                    == (method == .get
                        ? ["metrics", "complete contentNotAllowed", "invalid"]
                        : ["sent", "response 200", "content", "metrics", "complete", "invalid"]),
                "\(method)")
            #expect(task.error?.urlErrorCode == (method == .get ? -1103 : nil))
            #expect(delegate.size.withLock { $0 > 0 } == (method != .get))
        }
    }

    @Test("Without content, POST, PUT and PATCH have Content-Length: 0, and GET has none")
    func emptyContent() async throws {
        let server = try await TestServer()
        let session = ClientSession(.ephemeral)
        for method in Self.methods + [.patch] {
            for type in [nil, "text/x"] as [String?] {
                for body in [ClientBody.none, .bytes([])] {
                    let fields: HTTPFields = type.map { [.contentType: $0] } ?? [:]
                    let (_, response) = try await session.data(
                        for: ClientRequest(
                            method, server.url("/echo"), fields: fields, body: body))
                    #expect(response.status == .ok)
                    let seen = try #require(server.requests.withLock { $0.popLast() })
                    #expect(seen.method == method && seen.content.isEmpty)
                    #expect(seen.fields[.contentType] == type)
                    #expect(seen.fields[.transferEncoding] == nil)
                    // RFC 9110, 8.6: as user agents do with POST.
                    let usesDefaults = [HTTPMethod.post, .put, .patch].contains(method)
                    let length = seen.fields[.contentLength]
                    #expect(
                        usesDefaults ? length == "0" : method != .get || length == nil, "\(method)")
                }
            }
        }
    }

    @Test("gzip is decoded in a data task and in a download")
    func gzip() async throws {
        let bin = try await BinServer()
        let answer = try await bin.send(.get, "/gzip")
        #expect(answer.status == 200 && answer.text.contains("gzipped"))
        let path = TemporaryPath()
        let response = try await bin.session.download(
            for: bin.request(.get, "/gzip", fields: [.acceptEncoding: "gzip"]), to: path.text)
        #expect(response.status == .ok)
        struct Answer: Decodable { var gzipped: Bool }
        let content = try #require(Files.read(path.text))
        #expect(try JSONBody().decode(Answer.self, from: content).gzipped)
    }

    @Test("Downloads with a delegate and with a handler")
    func downloads() async throws {
        let bin = try await BinServer()
        let whole = try await bin.send(.get, "/image/jpeg").content
        for request in try requests(bin, "/image/jpeg") {
            let path = TemporaryPath()
            let delegate = Recorder()
            let session = ClientSession(bin.session.configuration, delegate: delegate)
            let task = session.downloadTask(for: request, to: path.text)
            let log = await completed(task, delegate).filter { $0 != "wrote" }
            #expect(log == ["response 200", "file", "metrics", "complete"])
            #expect(Files.read(path.text) == whole)
            let content = await withCheckedContinuation { continuation in
                session.downloadTask(for: request) { path, response, _ in
                    let isGood = response?.status == .ok
                    let content = path.flatMap { Files.read($0) }
                    continuation.resume(returning: isGood ? content : nil)
                }.resume()
            }
            #expect(content == whole)
            let other = TemporaryPath()
            #expect(try await session.download(for: request, to: other.text).status == .ok)
            #expect(Files.read(other.text) == whole)
        }
    }

    @Test("A bad URL and an unsupported scheme give one error and one callback")
    func badURLs() async throws {
        for (url, code) in [("http://192.168.0.1:-1/", -1000), ("ftp://127.0.0.1/", -1002)] {
            let delegate = Recorder()
            let session = ClientSession(.ephemeral, delegate: delegate)
            let task = session.dataTask(for: ClientRequest(.get, url))
            task.resume()
            task.cancel()
            session.finishTasksAndInvalidate()
            await delegate.wait { $0.last == "invalid" }
            #expect(delegate.log.filter { $0.hasPrefix("complete") }.count == 1)
            let again = ClientSession(.ephemeral, delegate: delegate)
            let other = again.dataTask(for: ClientRequest(.get, url))
            _ = await completed(other, delegate)
            again.finishTasksAndInvalidate()
            await delegate.wait { $0.filter { $0 == "invalid" }.count == 2 }
            #expect(delegate.log.filter { $0.hasPrefix("complete") }.count == 2)
            #expect(other.error?.urlErrorCode == code)
        }
    }

    @Test("Fields of the request override those of the session, and names are case-insensitive")
    func fields() async throws {
        let bin = try await BinServer { configuration in
            configuration.additionalFields = ["X-One": "session", "x-two": "session"]
        }
        let answer = try await bin.send(.get, "/headers", fields: ["x-one": "request"])
        #expect(answer.echo?.headers?["X-One"] == "request")
        #expect(answer.echo?.headers?["X-Two"] == "session")
    }

    @Test("A request ends at its idle timeout")
    func timeout() async throws {
        let bin = try await BinServer()
        var request = bin.request(.get, "/delay/10")
        request.timeouts = ClientTimeouts(idle: .milliseconds(200))
        #expect(await bin.failure(request)?.urlErrorCode == -1001)
    }

    @Test("Concurrent and successive requests, status 999 and content without a length work")
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

    @Test("Uploads send text, and a stream that the delegate provides")
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
            let answer = delegate.content.withLock { content in
                defer { content = [] }
                return content
            }
            let echo = try JSONBody().decode(BinServer.Echo.self, from: answer)
            #expect(echo.data == "given")
        }
        #expect(delegate.count.withLock { $0 } == 3)
        // GET has no content, and the delegate is not asked for any.
        let session = ClientSession(.ephemeral, delegate: delegate)
        let task = session.uploadTask(for: bin.request(.get, "/get"), from: nil)
        #expect(await failure { try await task.finished() }?.urlErrorCode == -1103)
        #expect(delegate.count.withLock { $0 } == 3)
    }

    private final class BodyGiver: ClientSessionDelegate {
        let count = Locked(0)
        let content = Locked([UInt8]())
        let gate = Ended()

        func task(_ task: TransferTask, didReceiveContent content: [UInt8]) {
            self.content.withLock { $0 += content }
        }

        func taskNeedsNewBody(_ task: TransferTask) async -> ClientBody {
            count.withLock { $0 += 1 }
            return .stream(OneElement(Array("given".utf8)))
        }

        func task(_ task: TransferTask, didCompleteWith error: ClientError?) { gate.end() }
    }

    /// Counts completed tasks.
    private final class Ended: Sendable {
        private let count = Locked(0)
        func end() { count.withLock { $0 += 1 } }
        func opened() async {
            _ = await soon {
                count.withLock { count in
                    guard count > 0 else { return false }
                    count -= 1
                    return true
                }
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
        // Cookies that a redirect sets are sent with the next request.
        let answer = try await bin.send(.get, "/cookies/set?b=3")
        #expect(answer.echo?.cookies == ["a": "2", "b": "3"])
    }

    @Test("Cookies can be disabled by the session, a request, the policy, and a missing storage")
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

    @Test("The cache policies decide between the cache and the server")
    func cache() async throws {
        let bin = try await BinServer()
        func get(_ policy: CachePolicy) async throws -> ClientResponse {
            var request = bin.request(.get, "/cache/1000")
            request.cachePolicy = policy
            return try await bin.session.data(for: request).1
        }
        let missing = await failure { try await get(.returnCacheDataDontLoad) }
        #expect(missing?.urlErrorCode == -1008)
        #expect(try await !get(.useProtocolCachePolicy).isFromCache)
        #expect(try await get(.useProtocolCachePolicy).isFromCache)
        #expect(try await !get(.reloadIgnoringLocalCacheData).isFromCache)
        #expect(try await get(.returnCacheDataElseLoad).isFromCache)
        #expect(try await get(.returnCacheDataDontLoad).isFromCache)
        await bin.session.reset()
        #expect(try await !get(.returnCacheDataElseLoad).isFromCache)
    }

    @Test("A response that the delegate cancels is an error, and is not stored")
    func cancelledResponse() async throws {
        let bin = try await BinServer()
        let delegate = Recorder(.cancel)
        let session = ClientSession(bin.session.configuration, delegate: delegate)
        let task = session.dataTask(for: bin.request(.get, "/cache/1000"))
        let log = await completed(task, delegate)
        #expect(log == ["response 200", "metrics", "complete cancelled"])
        #expect(task.error?.urlErrorCode == -999)
        #expect(bin.cache.memoryByteCount == 0)
    }
}
