#if FoundationNetworking
    import HTTPServerKit
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import HTTPServerCore
    import TestSupport
    import Testing
    import URLClient

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("Requests that were made for URLSession", .timeLimit(.minutes(2)))
    struct FoundationRequestTests {
        private func url(_ server: TestServer, _ path: String) throws -> URL {
            try #require(URL(string: server.url(path)))
        }

        @Test(
            "Any timeout of a URLRequest is accepted",
            arguments: [0, -1, .infinity, -.infinity, .nan, 1e300, .greatestFiniteMagnitude, 1e9])
        func timeouts(_ seconds: Double) async throws {
            let server = try await TestServer()
            var request = URLRequest(url: try url(server, "/hello"))
            request.timeoutInterval = seconds
            let (data, _) = try await ClientSession(.ephemeral).data(for: request)
            #expect(data == Data("hello".utf8))
        }

        @Test("Only httpBody of a POST without a type is sent as a form, as with URLSession")
        func formType() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            var request = URLRequest(url: try url(server, "/echo"))
            request.httpBody = Data("a=b".utf8)
            for method in ["POST", "PUT", "PATCH"] {
                request.httpMethod = method
                _ = try await session.data(for: request)
            }
            request.httpMethod = "POST"
            request.setValue("text/csv", forHTTPHeaderField: "content-type")
            _ = try await session.data(for: request)
            let own = ClientRequest(.post, server.url("/echo"), body: .bytes(Array("a=b".utf8)))
            _ = try await session.data(for: own)
            let types = server.seen("/echo").map { $0.fields[.contentType] }
            #expect(types == ["application/x-www-form-urlencoded", nil, nil, "text/csv", nil])
        }

        @Test("Settings that a request does not have are those of the session")
        func merged() async throws {
            let bin = try await BinServer { configuration in
                configuration.timeouts.total = .milliseconds(300)
                configuration.cachePolicy = .returnCacheDataDontLoad
            }
            var request = URLRequest(url: try #require(URL(string: bin.url("/delay/10"))))
            await #expect { try await bin.session.data(for: request) } throws: { error in
                (error as? URLError)?.code == .resourceUnavailable
            }
            request.cachePolicy = .reloadIgnoringLocalCacheData
            request.timeoutInterval = 30
            let own = ClientRequest(request)
            let error = await failure { try await bin.session.data(for: own) }
            #expect(error?.kind == .timedOut(.total))
            // A timeout of 0, or of the default 60, is not the request's own.
            let idle = try await BinServer { $0.timeouts.idle = .milliseconds(300) }
            for seconds in [0.0, 60] {
                var request = URLRequest(url: try #require(URL(string: idle.url("/delay/10"))))
                request.timeoutInterval = seconds
                let error = await idle.failure(ClientRequest(request))
                #expect(error?.kind == .timedOut(.idle))
            }
        }

        @Test("A stream is sent, chunked or with its length")
        func stream() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let content = Data(TestServer.pattern(300_000))
            for length in [nil, "300000"] {
                var request = URLRequest(url: try url(server, "/echo"))
                request.httpMethod = "POST"
                request.httpBodyStream = InputStream(data: content)
                request.setValue(length, forHTTPHeaderField: "Content-Length")
                let (data, _) = try await session.data(for: request)
                #expect(data == content)
                #expect(server.seen("/echo").last?.fields[.contentLength] == length)
            }
        }

        @Test("Every call with a delegate asks that delegate about a redirect")
        func delegates() async throws {
            let server = try await TestServer { _, router in
                router.on(nil, "/go") { _ in Response(.found, fields: [.location: "/hello"]) }
            }
            let session = ClientSession(.ephemeral)
            let (url, refuser) = (try url(server, "/go"), Recorder(follows: false))
            let request = URLRequest(url: url)
            let folder = try ServerDirectory()
            try folder.write("file", "of a file")
            let file = URL(fileURLWithPath: folder.path("file"))
            var post = request
            post.httpMethod = "POST"
            var files: [URL] = []
            let responses = [
                try await session.data(for: request, delegate: refuser).1,
                try await session.data(from: url, delegate: refuser).1,
                try await session.upload(for: post, from: Data(), delegate: refuser).1,
                try await session.upload(for: post, fromFile: file, delegate: refuser).1,
                try await session.bytes(for: request, delegate: refuser).1,
                try await session.bytes(from: url, delegate: refuser).1,
            ]
            for (file, response) in [
                try await session.download(for: request, delegate: refuser),
                try await session.download(from: url, delegate: refuser),
            ] {
                files.append(file)
                #expect((response as? HTTPURLResponse)?.statusCode == 302)
            }
            for file in files { try FileManager.default.removeItem(at: file) }
            #expect(responses.allSatisfy { ($0 as? HTTPURLResponse)?.statusCode == 302 })
            let (pieces, _) = try await session.bytes(from: try self.url(server, "/hello"))
            var content: [UInt8] = []
            for try await piece in pieces { content += piece }
            #expect(content == Array("hello".utf8))
        }

        @Test("Tasks deliver their content to the session's delegate")
        func tasks() async throws {
            let server = try await TestServer()
            let delegate = Recorder()
            let session = ClientSession(.ephemeral, delegate: delegate)
            let url = try url(server, "/hello")
            let folder = try ServerDirectory()
            try folder.write("file", "of a file")
            var post = URLRequest(url: try self.url(server, "/echo"))
            post.httpMethod = "POST"
            var streamed = post
            streamed.httpBodyStream = InputStream(data: Data("streamed".utf8))
            let tasks: [TransferTask] = [
                session.dataTask(with: url), session.dataTask(with: URLRequest(url: url)),
                session.uploadTask(with: post, from: Data("given".utf8)),
                session.uploadTask(
                    with: post, fromFile: URL(fileURLWithPath: folder.path("file"))),
                session.uploadTask(withStreamedRequest: streamed),
                session.downloadTask(with: url), session.downloadTask(with: URLRequest(url: url)),
            ]
            for task in tasks {
                let count = delegate.log.count
                try await task.finished()
                await delegate.wait { $0.count > count && $0.last == "complete" }
            }
            let told = delegate.log.filter { $0.hasPrefix("content") || $0 == "file" }
            #expect(
                told == [
                    "content hello", "content hello", "content given", "content of a file",
                    "content streamed", "file", "file",
                ])
        }

        @Test("Tasks deliver their content to a completion handler")
        func handlers() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let url = try url(server, "/hello")
            let folder = try ServerDirectory()
            try folder.write("file", "of a file")
            let file = URL(fileURLWithPath: folder.path("file"))
            var post = URLRequest(url: try self.url(server, "/echo"))
            post.httpMethod = "POST"
            let request = post
            typealias Handler = ClientSession.URLDataCompletion
            func text(_ make: (@escaping Handler) -> TransferTask) async -> String? {
                await withCheckedContinuation { continuation in
                    make { data, response, error in
                        let isGood = error == nil && response is HTTPURLResponse
                        let text = data.map { String(decoding: $0, as: UTF8.self) }
                        continuation.resume(returning: isGood ? text : nil)
                    }.resume()
                }
            }
            #expect(await text { session.dataTask(with: url, completionHandler: $0) } == "hello")
            #expect(
                await text {
                    session.uploadTask(
                        with: request, from: Data("given".utf8), completionHandler: $0)
                } == "given")
            #expect(
                await text {
                    session.uploadTask(with: request, fromFile: file, completionHandler: $0)
                } == "of a file")
            for isRequest in [false, true] {
                let content = await withCheckedContinuation { continuation in
                    let handler: ClientSession.URLDownloadCompletion = { file, _, _ in
                        continuation.resume(returning: file.flatMap { Files.read($0.path) })
                    }
                    let task =
                        isRequest
                        ? session.downloadTask(
                            with: URLRequest(url: url), completionHandler: handler)
                        : session.downloadTask(with: url, completionHandler: handler)
                    task.resume()
                }
                #expect(content == Array("hello".utf8))
            }
        }
    }
#endif
