import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Closures before and after a handler")
struct InterceptingHandlerTests {
    @Test("Each closure is called once for each request", arguments: Sample.Speed.allCases)
    func once(_ speed: Sample.Speed) async throws {
        let log = ServerLog<String>()
        let handler = InterceptingHandler(
            AnyTestHandler(
                Sample.handler(speed) { request in
                    log.add("handler")
                    return Response(.ok, body: .text(request.path))
                })
        ) { _ in
            log.add("before")
            return nil
        } after: { request, response in
            log.add("after \(request.path)")
            response.fields["X-After"] = "yes"
        }
        let answer = try await exchange(handler, "GET", "/x")
        #expect(answer.text == "/x")
        #expect(answer["X-After"] == "yes")
        #expect(log.entries == ["before", "handler", "after /x"])
    }

    @Test("A request is rewritten before it is routed", arguments: Sample.Speed.allCases)
    func rewriting(_ speed: Sample.Speed) async throws {
        var router = Router()
        router.mount(
            "/new",
            AnyTestHandler(
                Sample.handler(speed) { request in
                    let rest = (request.pathSegments ?? []).map {
                        String(decoding: $0, as: UTF8.self)
                    }
                    return Response(
                        .ok,
                        body: .text(
                            "\(request.target) \(request.originalTarget) \(rest) \(request.path)"))
                }))
        let handler = InterceptingHandler(router) { request in
            if request.path.hasPrefix("/old/") {
                request.rewritePath("/new/" + request.path.dropFirst("/old/".count))
            }
            return nil
        }
        let answer = try await exchange(handler, "GET", "/old/a%20b/c?d=e")
        #expect(answer.text == "/new/a%20b/c?d=e /old/a%20b/c?d=e [\"a b\", \"c\"] /new/a b/c")
        #expect(try await exchange(handler, "GET", "/old").status == 404)
    }

    @Test(
        "A rewritten path is encoded, and cannot name a host",
        arguments: [
            ("/a b", "/a%20b?q"), ("a", "/a?q"), ("/", "/?q"), ("", "/?q"),
            ("//evil/x", "/evil/x?q"),
            ("/é%", "/%C3%A9%25?q"), ("/a?b#c", "/a%3Fb%23c?q"), ("/a//b/", "/a//b/?q"),
        ])
    func rewrittenPaths(_ path: String, _ target: String) async throws {
        let handler = InterceptingHandler(Sample.target) { request in
            request.rewritePath(path)
            return nil
        }
        #expect(try await exchange(handler, "GET", "/x?q").text == target)
    }

    @Test("The whole target can be replaced, and the log keeps the original one")
    func wholeTarget() async throws {
        let log = ServerLog<AccessRecord>()
        let handler = InterceptingHandler(Sample.target) { request in
            if let target = RequestTarget("/b?c=d") { request.target = target }
            return nil
        }
        let answer = try await exchange(
            handler, "GET", "/a", configuration: .test { $0.accessLog = { log.add($0) } })
        #expect(answer.text == "/b?c=d")
        #expect(log.entries.map(\.target) == ["/a"])
    }

    @Test("A response or error before the handler is sent, and passes the closure after it")
    func shortCut() async throws {
        let handler = InterceptingHandler(Sample.target) { request in
            if request.path == "/no" { throw HTTPError(.forbidden, "not here") }
            return request.path == "/yes" ? Response(.accepted) : nil
        } after: { _, response in
            response.fields["X-After"] = "\(response.status.code)"
        }
        for (path, status) in [("/no", 403), ("/yes", 202), ("/", 200)] {
            let answer = try await exchange(handler, "GET", path)
            #expect(answer.status == status)
            #expect(answer["X-After"] == "\(status)")
        }
    }

    @Test("The response to an error can be replaced", arguments: Sample.Speed.allCases)
    func override(_ speed: Sample.Speed) async throws {
        let handler = InterceptingHandler(
            AnyTestHandler(Sample.handler(speed) { _ in throw HTTPError(.notFound) }),
            after: { _, response in
                response.status = .ok
                response.body = .text("instead")
            })
        let answer = try await exchange(handler, "GET", "/", "Accept: text/html\r\n")
        #expect(answer.status == 200)
        #expect(answer.text == "instead")
    }

    @Test(
        "Values that a handler sets on a request can be read around it",
        arguments: Sample.Speed.allCases)
    func sharedValues(_ speed: Sample.Speed) async throws {
        enum Key: RequestKey { typealias Value = String }
        let handler = InterceptingHandler(
            CompressionHandler(
                AnyTestHandler(
                    Sample.handler(speed) { request in
                        request[Key.self] = "kept"
                        return Response(.ok)
                    })),
            after: { request, response in response.fields["X-Kept"] = request[Key.self] })
        let answer = try await exchange(
            handler, "GET", "/", "Accept-Encoding: gzip\r\nIf-Match: \"a-gzip\"\r\n")
        #expect(answer["X-Kept"] == "kept")
    }
}
