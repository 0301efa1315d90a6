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

    // The uses in Apple's articles about URLSession, in our own words: fetching, downloading,
    // pausing, uploading, logging in, caching, and the async calls.

    @Suite("The uses that URLSession's documentation shows", .timeLimit(.minutes(3)))
    struct DocumentedUseTests {
        @Test("A completion handler gets the page, or one of three kinds of failure")
        func fetchingWithHandler() async throws {
            let server = try await SessionServer()
            func page(_ url: URL) async -> String {
                await withCheckedContinuation { done in
                    let task = URLSession.shared.dataTask(with: url) { data, response, error in
                        if let error {
                            return done.resume(returning: "client \(error.sessionCode != nil)")
                        }
                        guard let response = response as? HTTPURLResponse,
                            (200...299).contains(response.statusCode)
                        else { return done.resume(returning: "server") }
                        guard response.mimeType == "text/html", let data,
                            let text = String(data: data, encoding: .utf8)
                        else { return done.resume(returning: "type") }
                        done.resume(returning: text)
                    }
                    task.resume()
                }
            }
            #expect(await page(try server.bin("/html")).contains("<html"))
            #expect(await page(try server.bin("/status/404")) == "server")
            #expect(await page(try server.bin("/json")) == "type")
            let dead = PeerServer.deadPort
            let nowhere = try #require(URL(string: "http://127.0.0.1:\(dead)/"))
            #expect(await page(nowhere) == "client true")
        }

        @Test("A delegate can allow or cancel a response, or make it a download")
        func fetchingWithDelegate() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log) { $0.waitsForConnectivity = true }
            let task = session.dataTask(with: try server.bin("/html"))
            task.resume()
            try await log.completed()
            #expect(log.order == ["response 200", "data", "complete"])
            #expect(String(decoding: log.content, as: UTF8.self).contains("</html>"))
            #expect((task.response as? HTTPURLResponse)?.mimeType == "text/html")
            // A response that the delegate cancels.
            let other = SessionLog(.init(disposition: .cancel))
            let picky = URLSession.logging(other)
            picky.dataTask(with: try server.bin("/html")).resume()
            try await other.completed()
            #expect(other.order == ["response 200", "complete -999"] && other.content.isEmpty)
            // A response that becomes a file.
            let third = SessionLog(.init(disposition: .becomeDownload))
            URLSession.logging(third).dataTask(with: try server.bin("/html")).resume()
            try await third.completed()
            #expect(third.order == ["response 200", "became", "file", "complete"])
            #expect(third.content == log.content)
        }

        @Test("A download's handler can copy the file, which is removed after that")
        func downloadingWithHandler() async throws {
            let server = try await SessionServer()
            let folder = try ServerDirectory()
            let kept = URL(fileURLWithPath: folder.path("kept"))
            let url = try server.bin("/range/100000")
            let left: URL? = await withCheckedContinuation { done in
                URLSession.shared.downloadTask(with: url) { file, response, error in
                    guard let file, error == nil,
                        (response as? HTTPURLResponse)?.statusCode == 200
                    else { return done.resume(returning: nil) }
                    try? FileManager.default.copyItem(at: file, to: kept)
                    done.resume(returning: file)
                }.resume()
            }
            let path = try #require(left?.path)
            try await waitUntil { !FileManager.default.fileExists(atPath: path) }
            let content = try Data(contentsOf: kept)
            #expect(content.count == 100_000 && content.prefix(3) == Data("abc".utf8))
        }

        @Test("The progress of a download is reported to the delegate and by Progress")
        func downloadingWithDelegate() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log)
            let task = session.downloadTask(with: try server.own("/file"))
            task.resume()
            // The delegate gets the progress about twenty times a second.
            let part = Int64(SessionServer.firstPart)
            try await waitUntil {
                task.countOfBytesReceived == part && log.entries.contains("wrote")
            }
            let (written, whole) = (log.progress[0], log.progress[1])
            #expect(written > 0 && written <= part && whole == Int64(SessionServer.file.count))
            #expect(task.progress.fractionCompleted > 0 && task.progress.fractionCompleted <= 0.5)
            #expect(task.countOfBytesExpectedToReceive == Int64(SessionServer.file.count))
            server.open()
            try await log.completed()
            #expect(log.order == ["file", "complete"] && log.content == SessionServer.file)
            #expect(task.progress.fractionCompleted == 1 && task.progress.isFinished)
        }

        @Test("A paused download is resumed with a delegate, a handler or an async call")
        func pausing() async throws {
            for way in 0..<3 {
                let server = try await SessionServer()
                let log = SessionLog()
                let session = URLSession.logging(log)
                let task = session.downloadTask(with: try server.own("/file"))
                task.resume()
                try await waitUntil {
                    task.countOfBytesReceived == Int64(SessionServer.firstPart)
                }
                let resumeData: Data? = await withCheckedContinuation { done in
                    task.cancel { done.resume(returning: $0) }
                }
                try await log.completed()
                #expect(log.order == ["complete -999"])
                let data = try #require(resumeData)
                server.open()
                let (first, count) = (SessionServer.firstPart, SessionServer.file.count)
                switch way {
                case 0:
                    session.downloadTask(withResumeData: data).resume()
                    try await log.wait { $0.last == "complete" }
                    #expect(
                        log.order.dropFirst() == [
                            "resumed \(first) of \(count)", "file", "complete",
                        ])
                    #expect(log.content == SessionServer.file)
                case 1:
                    let content: Data? = await withCheckedContinuation { done in
                        session.downloadTask(withResumeData: data) { file, _, _ in
                            done.resume(returning: file.flatMap { try? Data(contentsOf: $0) })
                        }.resume()
                    }
                    #expect(content == SessionServer.file)
                default:
                    let (file, response) = try await session.download(resumeFrom: data)
                    #expect((response as? HTTPURLResponse)?.statusCode == 206)
                    #expect(try Data(contentsOf: file) == SessionServer.file)
                    try FileManager.default.removeItem(at: file)
                }
                #expect(server.seen("/file").map { $0.fields[.range] } == ["", "bytes=\(first)-"])
            }
        }

        @Test("A download that fails has resume data in its error")
        func resumeDataOfError() async throws {
            let server = try await SessionServer()
            let log = SessionLog()
            let session = URLSession.logging(log) {
                $0.timeoutIntervalForRequest = 1
                // Otherwise the client would resume it by itself.
                $0.client.downloadContinuations = 0
            }
            let task = session.downloadTask(with: try server.own("/file"))
            task.resume()
            try await log.completed()
            #expect(log.order == ["complete -1001"])
            let error = try #require(task.error as? URLError)
            let data = error.userInfo[URLSession.downloadTaskResumeDataKey] as? Data
            server.open()
            let (file, _) = try await session.download(resumeFrom: #require(data))
            #expect(try Data(contentsOf: file) == SessionServer.file)
            try FileManager.default.removeItem(at: file)
        }

        @Test("uploadTask(with:from:) uploads JSON data")
        func uploadingData() async throws {
            struct Order: Codable, Equatable { var customer: String; var items: [String] }
            let server = try await SessionServer()
            let order = Order(customer: "12345", items: ["Cheese pizza", "Diet soda"])
            let content = try JSONEncoder().encode(order)
            var request = URLRequest(url: try server.own("/echo"))
            request.httpMethod = "POST"
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            let prepared = request
            let answer: Data? = await withCheckedContinuation { done in
                let task = URLSession.shared.uploadTask(with: prepared, from: content) {
                    data, response, error in
                    let response = response as? HTTPURLResponse
                    done.resume(returning: error == nil && response?.statusCode == 200 ? data : nil)
                }
                task.resume()
            }
            #expect(try JSONDecoder().decode(Order.self, from: #require(answer)) == order)
            let seen = try #require(server.seen("/echo").last)
            #expect(seen.fields[.contentType] == "application/json" && seen.method == "POST")
            #expect(seen.fields[.contentLength] == "\(content.count)")
        }

        @Test("A stream from the delegate is uploaded chunked")
        func uploadingStream() async throws {
            let server = try await SessionServer()
            let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let log = SessionLog(.init(stream: { InputStream(data: content) }))
            let session = URLSession.logging(log)
            var request = URLRequest(url: try server.own("/echo"))
            request.httpMethod = "POST"
            session.uploadTask(withStreamedRequest: request).resume()
            try await log.completed()
            #expect(log.order == ["stream", "response 200", "data", "complete"])
            #expect(log.content == content && log.progress == [200_000, -1])
            #expect(server.seen("/echo").last?.fields[.transferEncoding] == "chunked")
        }

        @Test(
            "The delegate answers a challenge once, and a wrong credential is rejected",
            arguments: ["basic-auth", "digest-auth/auth"])
        func challenge(_ kind: String) async throws {
            let server = try await SessionServer()
            let url = try server.bin("/\(kind)/ada/lovelace")
            let scheme = String(kind.prefix { $0 != "-" })
            let log = SessionLog(.init(login: ("ada", "lovelace")))
            let session = URLSession.logging(log)
            session.dataTask(with: url).resume()
            try await log.completed()
            #expect(log.order == ["response 200", "data", "complete"])
            #expect(log.challenges == ["\(scheme) 0"])
            // The session remembers the credential from now on.
            session.dataTask(with: url).resume()
            try await log.wait { $0.filter { $0 == "complete" }.count == 2 }
            #expect(log.challenges == ["\(scheme) 0"])
            // A wrong credential causes a second challenge, which the delegate cancels.
            let wrong = SessionLog(.init(login: ("ada", "byron")))
            URLSession.logging(wrong).dataTask(with: url).resume()
            try await wrong.completed()
            #expect(wrong.challenges == ["\(scheme) 0", "\(scheme) 1"])
            #expect(wrong.order == ["complete -999"])
        }

        @Test(
            "A stored credential is sent; after its removal the response is 401",
            arguments: ["http", NSURLProtectionSpaceHTTP])
        func storedCredential(_ name: String) async throws {
            let server = try await SessionServer()
            let url = try server.bin("/basic-auth/ada/lovelace")
            let space = URLProtectionSpace(
                host: "127.0.0.1", port: try #require(url.port), protocol: name, realm: nil,
                authenticationMethod: NSURLAuthenticationMethodDefault)
            let known = URLCredential(
                user: "ada", password: "lovelace", persistence: .forSession)
            let configuration = URLSessionConfiguration.ephemeral
            let storage = URLCredentialStorage()
            storage.setDefaultCredential(known, for: space)
            configuration.urlCredentialStorage = storage
            let session = URLSession(configuration: configuration)
            #expect(await session.answer(URLRequest(url: url)).1?.statusCode == 200)
            #expect(storage.defaultCredential(for: space)?.user == "ada")
            storage.remove(known, for: space)
            #expect(storage.credentials(for: space) == nil)
            #expect(await session.answer(URLRequest(url: url)).1?.statusCode == 401)
        }

        @Test("A credential that is stored for NTLM is not used for Basic")
        func credentialOfAnotherMethod() async throws {
            let server = try await SessionServer()
            let url = try server.bin("/basic-auth/ada/lovelace")
            let configuration = URLSessionConfiguration.ephemeral
            let storage = URLCredentialStorage()
            configuration.urlCredentialStorage = storage
            let session = URLSession(configuration: configuration)
            let known = URLCredential(
                user: "ada", password: "lovelace", persistence: .forSession)
            for method in [NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodHTTPBasic] {
                let space = URLProtectionSpace(
                    host: "127.0.0.1", port: try #require(url.port), protocol: "http",
                    realm: "Fake Realm", authenticationMethod: method)
                storage.set(known, for: space)
                let isBasic = method == NSURLAuthenticationMethodHTTPBasic
                #expect(
                    await session.answer(URLRequest(url: url)).1?.statusCode
                        == (isBasic ? 200 : 401))
                #expect((storage.defaultCredential(for: space) != nil) == isBasic)
            }
        }

        @Test("A delegate can prevent the storage of a response in the cache")
        func cachedData() async throws {
            let server = try await SessionServer()
            let request = URLRequest(url: try server.bin("/cache/1000"))
            for stores in [true, false] {
                let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                let log = SessionLog(.init(stores: stores))
                let session = URLSession.logging(log) { $0.urlCache = cache }
                session.dataTask(with: request).resume()
                try await log.completed()
                #expect(log.entries.contains("cache"))
                let stored = cache.cachedResponse(for: request)
                #expect(stored?.data == (stores ? log.content : nil))
                #expect((stored?.response as? HTTPURLResponse)?.statusCode == (stores ? 200 : nil))
            }
        }

        @Test("Async calls work for data, lines, downloads and uploads, and can be cancelled")
        func asyncCalls() async throws {
            let server = try await SessionServer()
            let session = URLSession(configuration: .ephemeral)
            let (data, response) = try await session.data(
                for: URLRequest(url: try server.bin("/get?a=b")))
            #expect(try Echo(data).args == ["a": "b"])
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            let (bytes, _) = try await session.bytes(from: server.bin("/stream/3"))
            var urls: [String?] = []
            for try await line in bytes.lines { urls.append(try Echo(Data(line.utf8)).url) }
            #expect(urls == Array(repeating: try server.bin("/stream/3").absoluteString, count: 3))
            let (file, _) = try await session.download(from: server.bin("/range/1000"))
            #expect(try Data(contentsOf: file).count == 1_000)
            try FileManager.default.removeItem(at: file)
            let post = URLRequest("POST", try server.bin("/post"), ["Content-Type": "text/x"])
            let (sent, _) = try await session.upload(for: post, from: Data("up".utf8))
            #expect(try Echo(sent).data == "up")
            let log = SessionLog(.init(follows: false))
            let (_, redirect) = try await session.data(
                from: server.bin("/redirect/1"), delegate: log)
            #expect((redirect as? HTTPURLResponse)?.statusCode == 302)
            #expect(log.entries.first == "redirect 302")
            let silent = try server.own("/silent")
            let call = Task { try await session.data(from: silent) }
            try await waitUntil { await session.allTasks.count == 1 }
            call.cancel()
            #expect(await code { try await call.value } == .cancelled)
        }
    }
#endif
