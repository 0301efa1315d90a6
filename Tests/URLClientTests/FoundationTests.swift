#if FoundationNetworking
    import Foundation
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import URLClient

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("Code that was written for URLSession", .timeLimit(.minutes(2)))
    struct FoundationTests {
        private func url(_ server: TestServer, _ path: String) throws -> URL {
            try #require(URL(string: server.url(path)))
        }

        @Test("A request gives data and a response of Foundation's types")
        func data() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let (data, response) = try await session.data(from: try url(server, "/hello"))
            #expect(String(decoding: data, as: UTF8.self) == "hello")
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(http.value(forHTTPHeaderField: "content-type") == "text/plain; charset=utf-8")
        }

        @Test("A download gives a file that is kept, and that only its owner can read")
        func download() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let (file, response) = try await session.download(
                for: URLRequest(url: try url(server, "/hello")))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file) == Data("hello".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            // All users share the folder.
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        @Test("Errors are URLErrors with URLSession's codes")
        func errors() async throws {
            let session = ClientSession(.ephemeral)
            let listener = try await TestServer()
            let gone = try url(listener, "/hello")
            await listener.server.shutdown()
            await #expect { try await session.data(from: gone) } throws: { error in
                (error as? URLError)?.code == .cannotConnectToHost
            }
        }

        @Test("Method, fields and content are sent, from the request, from data or from a file")
        func content() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            var request = URLRequest(url: try url(server, "/echo"))
            request.httpMethod = "PATCH"
            request.setValue("text/x", forHTTPHeaderField: "content-type")
            request.httpBody = Data("own".utf8)
            let folder = try ServerDirectory()
            try folder.write("file", "of a file")
            let own = try await session.data(for: request)
            let data = try await session.upload(for: request, from: Data("given".utf8))
            let file = try await session.upload(
                for: request, fromFile: URL(fileURLWithPath: folder.path("file")))
            #expect(
                [own, data, file].map(\.0) == ["own", "given", "of a file"].map { Data($0.utf8) })
            for seen in server.seen("/echo") {
                #expect(seen.method == .patch && seen.fields[.contentType] == "text/x")
                #expect(seen.fields[.contentLength] == "\(seen.content.count)")
            }
            await #expect {
                try await session.upload(
                    for: request, fromFile: URL(fileURLWithPath: "/nonexistent"))
            } throws: { ($0 as? URLError)?.code == .cannotOpenFile }
        }

        @Test("Cache policy, cookies and timeout of a request apply; repeated fields are joined")
        func settings() async throws {
            let bin = try await BinServer()
            var request = URLRequest(url: try #require(URL(string: bin.url("/cache/1000"))))
            _ = try await bin.session.data(for: request)
            request.cachePolicy = .returnCacheDataDontLoad
            let (_, stored) = try await bin.session.data(for: request)
            #expect((stored as? HTTPURLResponse)?.value(forHTTPHeaderField: "Age") != nil)
            await bin.session.reset()
            await #expect { try await bin.session.data(for: request) } throws: { error in
                (error as? URLError)?.code == .resourceUnavailable
            }
            let set = "/response-headers?Set-Cookie=a%3D1&X-Two=a&X-Two=b"
            var cookies = URLRequest(url: try #require(URL(string: bin.url(set))))
            cookies.httpShouldHandleCookies = false
            let (_, response) = try await bin.session.data(for: cookies)
            #expect(bin.cookies.cookies.isEmpty)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Two") == "a, b")
            var late = URLRequest(url: try #require(URL(string: bin.url("/delay/10"))))
            late.timeoutInterval = 0.2
            await #expect { try await bin.session.data(for: late) } throws: { error in
                (error as? URLError)?.code == .timedOut
            }
        }

        @Test("A completion handler is called once")
        func handler() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let request = URLRequest(url: try url(server, "/hello"))
            let text = await withCheckedContinuation { continuation in
                session.dataTask(with: request) { data, _, error in
                    let text = data.map { String(decoding: $0, as: UTF8.self) }
                    continuation.resume(returning: error == nil ? text : nil)
                }.resume()
            }
            #expect(text == "hello")
        }
    }
#endif
