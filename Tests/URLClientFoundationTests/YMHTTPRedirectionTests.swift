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

    // The cases Y38 to Y49 of YMHTTP.

    @Suite("YMHTTP with URLSession's names: redirects", .timeLimit(.minutes(3)))
    struct YMHTTPRedirectionTests {
        private static let methods = ["GET", "POST", "PUT", "DELETE", "PATCH"]

        @Test("Y38, Y42: 300 and 304 are delivered as responses", arguments: [300, 304], methods)
        func delivered(_ status: Int, _ method: String) async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let url = try server.bin("/redirect-to?url=/get&status_code=\(status)")
            session.dataTask(with: URLRequest(method, url)).resume()
            try await log.completed()
            #expect(log.order == ["response \(status)", "complete"])
        }

        @Test(
            "Y39 to Y41, Y43: The calls are in order, and the right method arrives",
            arguments: methods)
        func followed(_ method: String) async throws {
            let server = try await SessionServer()
            for status in [301, 302, 303, 305, 306, 307, 308] {
                let log = SessionLog()
                let session = URLSession.logging(log)
                let url = try server.bin("/redirect-to?url=/anything&status_code=\(status)")
                let task = session.dataTask(with: URLRequest(method, url))
                task.resume()
                try await log.completed()
                #expect(log.order == ["redirect \(status)", "response 200", "data", "complete"])
                let wanted =
                    status == 303 || (status < 303 && method == "POST") ? "GET" : method
                #expect(try Echo(log.content).method == wanted)
                #expect(task.currentRequest?.url == (try server.bin("/anything")))
                #expect(task.originalRequest?.url == url)
                #expect(task.response?.url == (try server.bin("/anything")))
            }
        }

        @Test("Y43: 307 and 308 send the content again", arguments: [307, 308])
        func contentAgain(_ status: Int) async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let url = try server.bin("/redirect-to?url=/anything&status_code=\(status)")
            let request = URLRequest(
                "POST", url, ["Content-Type": "text/x"], body: Data("content".utf8))
            let (data, _, _) = await session.answer(request)
            let echo = try Echo(data)
            #expect(echo.method == "POST" && echo.data == "content")
        }

        @Test("Y44: An absolute or relative Location is followed")
        func locations() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            for path in ["/absolute-redirect/3", "/relative-redirect/3", "/redirect/3"] {
                let (_, response, _) = await session.answer(
                    URLRequest(url: try server.bin(path)))
                #expect(response?.statusCode == 200)
                #expect(response?.url == (try server.bin("/get")))
            }
        }

        @Test("Y45, Y48: The request's timeout ends the task after a redirect")
        func timeout() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log) { $0.timeoutIntervalForRequest = 60 }
            var request = URLRequest(url: try server.bin("/redirect-to?url=/delay/10"))
            request.timeoutInterval = 0.5
            let task = session.dataTask(with: request)
            task.resume()
            try await log.completed()
            #expect(log.order == ["redirect 302", "complete -1001"])
            #expect(task.currentRequest?.url == (try server.bin("/delay/10")))
        }

        @Test("Y46: A delegate that answers nil gets the redirect as the response")
        func refused() async throws {
            let server = try await SessionServer()
            let log = SessionLog(.init(follows: false))
            let session = URLSession.logging(log)
            let task = session.dataTask(with: try server.bin("/redirect-to?url=/get"))
            task.resume()
            try await log.completed()
            #expect(log.order == ["redirect 302", "response 302", "complete"])
            #expect((task.response as? HTTPURLResponse)?.statusCode == 302)
        }

        @Test("Y47: If the delegate never answers, the task ends once, at its timeout")
        func unanswered() async throws {
            let server = try await SessionServer()
            let log = SessionLog(.init(answersRedirects: false))
            let session = URLSession.logging(log) { $0.timeoutIntervalForRequest = 0.5 }
            let task = session.dataTask(with: try server.bin("/redirect-to?url=/get"))
            task.resume()
            try await log.completed()
            session.finishTasksAndInvalidate()
            try await log.wait { $0.last == "invalid" }
            #expect(log.order == ["redirect 302", "complete -1001", "invalid"])
            #expect(task.error?.sessionCode == .timedOut)
        }

        @Test("Y49: Twenty redirects are followed, more fail with -1007")
        func limit() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let (_, response, _) = await session.answer(
                URLRequest(url: try server.bin("/redirect/20")))
            #expect(response?.statusCode == 200)
            let (_, _, error) = await session.answer(
                URLRequest(url: try server.bin("/redirect/21")))
            #expect(error == .httpTooManyRedirects)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.client.redirects.limit = 16
            let less = URLSession(configuration: configuration)
            let (_, _, early) = await less.answer(
                URLRequest(url: try server.bin("/redirect/18")))
            #expect(early == .httpTooManyRedirects)
        }
    }
#endif
