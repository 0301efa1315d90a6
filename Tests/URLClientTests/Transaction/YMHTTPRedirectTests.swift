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

// The cases of YMHTTP's tests of redirects, adapted to this client and the endpoints of httpbin.

@Suite("YMHTTP: redirects", .timeLimit(.minutes(3)))
struct YMHTTPRedirectTests {
    static let methods: [HTTPMethod] = [.get, .post, .put, .delete, .patch]

    /// The events of a delegate; pieces of content, whose number varies, are one event.
    private func log(
        _ method: HTTPMethod, _ path: String, follows: Bool = true, body: ClientBody = .none
    ) async throws -> (log: [String], response: ClientResponse) {
        let bin = try await BinServer()
        let delegate = Recorder(follows: follows)
        let session = ClientSession(bin.session.configuration, delegate: delegate)
        let task = session.dataTask(for: bin.request(method, path, body: body))
        task.resume()
        await delegate.wait { $0.last?.hasPrefix("complete") == true }
        let log = delegate.order.filter { $0 != "sent" }
        let response = try #require(task.response)
        session.invalidateAndCancel()
        return (log, response)
    }

    @Test("300 and 304 are delivered", arguments: [300, 304], methods)
    func delivered(_ code: Int, _ method: HTTPMethod) async throws {
        let path = "/redirect-to?url=/get&status_code=\(code)"
        let result = try await log(method, path)
        #expect(result.log == ["response \(code)", "metrics", "complete"])
    }

    @Test(
        "301, 302, 303 and 305 to 308 are followed with the right callbacks and the right method",
        arguments: methods)
    func followed(_ method: HTTPMethod) async throws {
        for code in [301, 302, 303, 305, 306, 307, 308] {
            let path = "/redirect-to?url=/anything&status_code=\(code)"
            let result = try await log(method, path)
            #expect(
                result.log
                    == ["redirect \(code)", "response 200", "content", "metrics", "complete"])
            let bin = try await BinServer()
            let answer = try await bin.send(method, path)
            let wanted: HTTPMethod =
                switch code {
                case 303: .get
                case 301, 302: method == .post ? .get : method
                default: method
                }
            #expect(answer.echo?.method == wanted.name)
            #expect(answer.response.url.absoluteString == bin.url("/anything"))
        }
    }

    @Test("D7: 307 and 308 send the content again", arguments: [307, 308])
    func resent(_ code: Int) async throws {
        let bin = try await BinServer()
        let path = "/redirect-to?url=/anything&status_code=\(code)"
        let large = String(repeating: "content ", count: 40_000)
        for method in [HTTPMethod.post, .put, .patch] {
            let answer = try await bin.send(method, path, body: .text(large))
            #expect(answer.echo?.data == large && answer.echo?.method == method.name)
            #expect(answer.echo?.headers?["Content-Type"] == "text/plain; charset=utf-8")
        }
        let replayable = ClientBody.replayable { OneElement(Array("again".utf8)) }
        #expect(try await bin.send(.post, path, body: replayable).echo?.data == "again")
        // The redirect is delivered if the stream cannot be sent again.
        let stream = ClientBody.stream(OneElement(Array("once".utf8)))
        #expect(try await bin.send(.post, path, body: stream).status == UInt16(code))
    }

    @Test(
        "D8: content and its fields are removed when POST becomes GET", arguments: [301, 302, 303])
    func contentLeft(_ code: Int) async throws {
        let bin = try await BinServer()
        let path = "/redirect-to?url=/anything&status_code=\(code)"
        let answer = try await bin.send(.post, path, body: .text("content"))
        let echo = try #require(answer.echo)
        #expect(echo.method == "GET" && echo.data == "" && echo.headers?["Content-Type"] == nil)
        #expect(echo.headers?["Content-Length"] == nil)
    }

    @Test("Absolute and relative Locations are followed")
    func locations() async throws {
        let bin = try await BinServer()
        for path in ["/absolute-redirect/3", "/relative-redirect/3", "/redirect/3"] {
            let answer = try await bin.send(.get, path)
            #expect(answer.status == 200 && answer.response.url.absoluteString == bin.url("/get"))
        }
    }

    @Test("D9: relative references keep their query and are resolved by RFC 3986")
    func references() async throws {
        let bin = try await BinServer()
        for (location, wanted) in [
            ("%2Fget%3Fa%3Db", "/get?a=b"), ("get%3Fx%3D1", "/get?x=1"),
            (".%2Fanything%2F..%2Fget", "/get"),
            ("%2Fanything%2Fa%2F.%2Fb%2F..%2Fc", "/anything/a/c"),
        ] {
            let answer = try await bin.send(.get, "/redirect-to?url=\(location)")
            #expect(answer.response.url.absoluteString == bin.url(wanted))
        }
    }

    @Test("A redirect that the delegate refuses is delivered")
    func refused() async throws {
        let result = try await log(.get, "/redirect-to?url=/get", follows: false)
        #expect(result.log == ["redirect 302", "response 302", "metrics", "complete"])
        #expect(result.response.status == .found)
    }

    @Test("The timeout of the request also applies after a redirect")
    func timeout() async throws {
        let bin = try await BinServer()
        var request = bin.request(.get, "/redirect-to?url=/delay/10")
        request.timeouts = ClientTimeouts(idle: .milliseconds(300))
        let error = await bin.failure(request)
        #expect(error?.isTimeout == true && error?.urlErrorCode == -1001)
        // The redirect was followed with the timeout of the request; the default is much longer.
        #expect(error?.url?.absoluteString == bin.url("/delay/10"))
        #expect(error?.kind == .timedOut(.idle))
    }

    @Test("Twenty redirects are followed by default, sixteen with that limit, and not more")
    func limit() async throws {
        let bin = try await BinServer()
        #expect(try await bin.send(.get, "/redirect/20").status == 200)
        let less = try await BinServer { $0.redirects.limit = 16 }
        #expect(try await less.send(.get, "/redirect/16").status == 200)
        for (bin, count) in [(bin, 21), (less, 17), (less, 18)] {
            let error = await bin.failure(bin.request(.get, "/redirect/\(count)"))
            #expect(error?.kind == .tooManyRedirects && error?.urlErrorCode == -1007)
        }
    }

    @Test("A redirect loop ends at the limit, with an error that names its URLs")
    func loop() async throws {
        let bin = try await BinServer()
        let path = "/redirect-to?url=%2Fredirect-to%3Furl%3D%252Fget%26status_code%3D302"
        #expect(try await bin.send(.get, path).status == 200)
        let server = try await TestServer { _, router in
            router.on(.get, "/a") { _ in .redirect(to: "/b") }
            router.on(.get, "/b") { _ in .redirect(to: "/a") }
        }
        let error = await bin.failure(ClientRequest(.get, server.url("/a")))
        #expect(error?.kind == .tooManyRedirects)
        #expect(error?.message.contains("\(server.url("/a")) -> \(server.url("/b"))") == true)
    }

    @Test(
        "D10: another origin gets no credentials and no unknown fields; the same gets credentials")
    func credentials() async throws {
        let bin = try await BinServer()
        let other = try await BinServer()
        let fields: HTTPFields = [
            .authorization: "Basic c2VjcmV0", .cookie: "a=1", "X-Api-Key": "k", .accept: "text/x",
        ]
        let away = "/redirect-to?url=\(other.url("/anything"))"
        let answer = try await bin.send(.get, away, fields: fields)
        let headers = try #require(answer.echo?.headers)
        #expect(answer.response.url.absoluteString == other.url("/anything"))
        #expect(headers["Authorization"] == nil && headers["Cookie"] == nil)
        #expect(headers["X-Api-Key"] == nil && headers["Accept"] == "text/x")
        let near = try await bin.send(.get, "/redirect-to?url=/anything", fields: fields)
        #expect(near.echo?.headers?["Authorization"] == "Basic c2VjcmV0")
        #expect(near.echo?.headers?["Cookie"] == "a=1")
    }

    @Test(
        "D11, D12: all fields of the request arrive once, also repeated names and after redirects")
    func fieldsOnce() async throws {
        let first = Locked([HTTPFields]())
        let server = try await TestServer { _, router in
            router.on(.get, "/1") { request in
                let fields = request.fields.reduce(into: HTTPFields()) { $0.append($1) }
                first.withLock { $0.append(fields) }
                return .redirect(to: "/2")
            }
            router.on(.get, "/2") { _ in .redirect(to: "/3") }
            router.on(.get, "/3") { _ in .redirect(to: "/echo") }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.additionalFields = ["X-A": "session", "X-C": "4"]
        let session = ClientSession(configuration)
        var fields = HTTPFields()
        fields.append("X-A", "1")
        fields.append("x-a", "2")
        fields.append("X-B", "3")
        _ = try await session.data(for: ClientRequest(.get, server.url("/1"), fields: fields))
        let seen = first.withLock { $0 } + server.seen("/echo").map(\.fields)
        #expect(seen.count == 2)
        for fields in seen {
            #expect(fields.values(of: "X-A") == ["1", "2"])
            #expect(fields.values(of: "X-B") == ["3"] && fields.values(of: "X-C") == ["4"])
            #expect(fields.values(of: .userAgent).count == 1)
        }
    }

    @Test("D3: a redirect to another origin does not use the connect target of the first one")
    func connectTarget() async throws {
        let bin = try await BinServer()
        let other = try await TestServer()
        var request = ClientRequest(
            .get, "http://one.example/redirect-to?url=\(other.url("/hello"))")
        request.connectTo = ConnectTarget(host: "127.0.0.1", port: bin.port)
        let (content, response) = try await bin.session.data(for: request)
        #expect(content == Array("hello".utf8))
        #expect(response.url.absoluteString == other.url("/hello"))
        #expect(response.status == .ok)
    }
}

/// A sequence of one piece.
struct OneElement: AsyncSequence, Sendable {
    let element: [UInt8]

    init(_ element: [UInt8]) { self.element = element }

    struct Iterator: AsyncIteratorProtocol {
        var element: [UInt8]?
        mutating func next() async -> [UInt8]? { element.take() }
    }

    func makeAsyncIterator() -> Iterator { Iterator(element: element) }
}
