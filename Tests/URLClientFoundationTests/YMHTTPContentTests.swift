#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import TestSupport
    import Testing
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    // The cases Y5 to Y29 of YMHTTP that are about fields, content and cookies.

    @Suite("YMHTTP with URLSession's names: fields, content, cookies", .timeLimit(.minutes(3)))
    struct YMHTTPContentTests {
        private static let methods = ["GET", "PUT", "POST", "DELETE"]

        @Test(
            "Y5: A stream is sent by each method but GET, with and without Content-Type",
            arguments: methods)
        func streams(_ method: String) async throws {
            let server = try await SessionServer()
            for type in [nil, "text/x"] as [String?] {
                let log = SessionLog()
                let session = URLSession.logging(log)
                var request = URLRequest(method, try server.bin("/\(method.lowercased())"))
                if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
                request.httpBodyStream = InputStream(data: Data("body".utf8))
                session.dataTask(with: request).resume()
                try await log.completed()
                guard method != "GET" else {
                    #expect(log.order == ["complete -1103"])
                    continue
                }
                #expect(log.order == ["response 200", "data", "complete"])
                let echo = try Echo(log.content)
                #expect(echo.data == "body" && echo.headers?["Content-Type"] == type)
            }
        }

        @Test(
            "Y24: Content in memory is sent by each method but GET",
            arguments: methods, [nil, "text/x"])
        func bodies(_ method: String, _ type: String?) async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let url = try server.bin("/\(method.lowercased())")
            var request = URLRequest(method, url, body: Data("a=b".utf8))
            if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
            let (data, _, error) = await session.answer(request)
            guard method != "GET" else {
                #expect(error == .dataLengthExceedsMaximum && data == nil)
                return
            }
            let echo = try Echo(data)
            if method == "POST", type == nil {
                #expect(echo.headers?["Content-Type"] == "application/x-www-form-urlencoded")
                #expect(echo.form == ["a": "b"])
            } else {
                #expect(echo.data == "a=b" && echo.headers?["Content-Type"] == type)
            }
        }

        @Test("Y23, Y29: Empty content has no bytes; POST and PUT send Content-Length: 0")
        func emptyContent() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            for method in Self.methods {
                for body in [nil, Data()] {
                    let request = URLRequest(method, try server.own("/echo"), body: body)
                    let (data, response, _) = await session.answer(request)
                    #expect(response?.statusCode == 200 && data == Data())
                    let seen = try #require(server.seen("/echo").last)
                    #expect(seen.method == method && seen.content.isEmpty)
                    #expect(seen.fields[.transferEncoding] == nil)
                    let length = seen.fields[.contentLength]
                    #expect(
                        ["POST", "PUT"].contains(method)
                            ? length == "0" : method != "GET" || length == nil)
                }
            }
        }

        @Test("Y16, Y17: A request's fields override the session's, in any letter case")
        func fields() async throws {
            let server = try await SessionServer()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-One": "session", "x-two": "session"]
            let session = URLSession(configuration: configuration)
            let url = try server.bin("/headers")
            let (data, _, _) = await session.answer(
                URLRequest("GET", url, ["x-one": "request", "X-Three": "3"]))
            let headers = try #require(Echo(data).headers)
            #expect(headers["X-One"] == "request" && headers["X-Two"] == "session")
            #expect(headers["X-Three"] == "3")
        }

        @Test("Y22: Content from memory and from a file is uploaded")
        func uploads() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let large = String(repeating: "u", count: 300_000)
            let request = URLRequest("PUT", try server.bin("/put"))
            let folder = try ServerDirectory()
            try folder.write("up", large)
            let file = URL(fileURLWithPath: folder.path("up"))
            for isFile in [false, true] {
                let data: Data? = await withCheckedContinuation { done in
                    let handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void = {
                        data, _, error in done.resume(returning: error == nil ? data : nil)
                    }
                    let task =
                        isFile
                        ? session.uploadTask(
                            with: request, fromFile: file, completionHandler: handler)
                        : session.uploadTask(
                            with: request, from: Data(large.utf8), completionHandler: handler)
                    task.resume()
                }
                let echo = try Echo(data)
                #expect(echo.data == large && echo.headers?["Content-Length"] == "300000")
            }
            let log = SessionLog()
            let told = URLSession.logging(log)
            told.uploadTask(with: request, from: Data(large.utf8)).resume()
            try await log.completed()
            #expect(log.order == ["response 200", "data", "complete"])
            #expect(log.entries.contains("sent") && log.progress == [300_000, 300_000])
        }

        @Test("Y25: The delegate provides the stream of an upload")
        func streamOfDelegate() async throws {
            let server = try await SessionServer()
            for method in ["POST", "PUT", "DELETE"] {
                let log = SessionLog(.init(stream: { InputStream(data: Data("given".utf8)) }))
                let session = URLSession.logging(log)
                let url = try server.bin("/\(method.lowercased())")
                session.uploadTask(withStreamedRequest: URLRequest(method, url)).resume()
                try await log.completed()
                #expect(log.order == ["stream", "response 200", "data", "complete"])
                #expect(try Echo(log.content).data == "given")
            }
            // GET has no content.
            let log = SessionLog(.init(stream: { InputStream(data: Data("given".utf8)) }))
            let url = try server.bin("/get")
            URLSession.logging(log).uploadTask(withStreamedRequest: URLRequest("GET", url)).resume()
            try await log.completed()
            #expect(log.order == ["complete -1103"])
        }

        // MARK: cookies

        @Test("Y26: Cookies can be switched off by the session, request, policy or storage")
        func noCookies() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/cookies/set?b=3")
            for change: (URLSessionConfiguration) -> Void in [
                { $0.httpShouldSetCookies = false }, { $0.httpCookieStorage = nil },
                { $0.httpCookieAcceptPolicy = .never },
            ] {
                let configuration = URLSessionConfiguration.ephemeral
                change(configuration)
                let session = URLSession(configuration: configuration)
                let (data, _, _) = await session.answer(URLRequest(url: url))
                #expect(try Echo(data).cookies == [:])
                #expect(configuration.httpCookieStorage?.cookies ?? [] == [])
            }
            let session = URLSession(configuration: .ephemeral)
            _ = await session.answer(URLRequest(url: url))
            #expect(session.configuration.httpCookieStorage?.cookies?.map(\.name) == ["b"])
            var request = URLRequest(url: try server.bin("/cookies"))
            request.httpShouldHandleCookies = false
            let (data, _, _) = await session.answer(request)
            #expect(try Echo(data).cookies == [:])
        }

        @Test("Y27, Y28: Cookies are stored and sent later; the last one of a name is kept")
        func cookies() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let storage = try #require(session.configuration.httpCookieStorage)
            let set =
                "/response-headers?Set-Cookie=a%3D1%3B%20path%3D/&Set-Cookie=a%3D2%3B%20path%3D/"
            _ = await session.answer(URLRequest(url: try server.bin(set)))
            #expect(storage.cookies?.map { "\($0.name)=\($0.value)\($0.path)" } == ["a=2/"])
            let url = try server.bin("/cookies")
            #expect(storage.cookies(for: url)?.map(\.value) == ["2"])
            let (data, _, _) = await session.answer(URLRequest(url: url))
            #expect(try Echo(data).cookies == ["a": "2"])
            // A redirect sets a cookie, which the next request sends.
            let led = await session.answer(URLRequest(url: try server.bin("/cookies/set?b=3")))
            #expect(try Echo(led.0).cookies == ["a": "2", "b": "3"])
            // The application adds one cookie, and deletes another.
            let own = try #require(
                HTTPCookie(properties: [
                    .name: "c", .value: "4", .path: "/", .domain: "127.0.0.1",
                ]))
            storage.setCookie(own)
            try storage.deleteCookie(#require(storage.cookies?.first { $0.name == "a" }))
            let (last, _, _) = await session.answer(URLRequest(url: url))
            #expect(try Echo(last).cookies == ["b": "3", "c": "4"])
            storage.removeCookies(since: .distantPast)
            #expect(storage.cookies == [])
        }

        // MARK: beyond URLSession

        @Test("A ClientRequest with a connect target works in a session with URLSession's names")
        func connectTo() async throws {
            let server = try await SessionServer()
            let port = try #require(server.bin("/").port)
            let url = try #require(URL(string: "http://one.example/get"))
            var request = ClientRequest(URLRequest(url: url))
            request.connectTo = ConnectTarget(host: "127.0.0.1", port: UInt16(port))
            let session = URLSession(configuration: .ephemeral)
            let data: Data? = await withCheckedContinuation { done in
                session.dataTask(for: request) { data, _, _ in done.resume(returning: data) }
                    .resume()
            }
            #expect(try Echo(data).headers?["Host"] == "one.example")
        }
    }
#endif
