#if FoundationNetworking
    import Foundation
    import HTTPParser
    import HTTPServerCore
    import TestSupport
    import Testing
    import URLClient

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    @Suite("Code that was written for URLSession", .timeLimit(.minutes(1)))
    struct FoundationTests {
        private func url(_ server: TestServer, _ path: String) throws -> URL {
            try #require(URL(string: server.url(path)))
        }

        @Test("A request and a response of Foundation's types")
        func data() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let (data, response) = try await session.data(from: try url(server, "/hello"))
            #expect(String(decoding: data, as: UTF8.self) == "hello")
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200)
            #expect(http.value(forHTTPHeaderField: "content-type") == "text/plain; charset=utf-8")
        }

        @Test("A download is a file that stays")
        func download() async throws {
            let server = try await TestServer()
            let session = ClientSession(.ephemeral)
            let (file, response) = try await session.download(
                for: URLRequest(url: try url(server, "/hello")))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file) == Data("hello".utf8))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }

        @Test("Errors are those of URLSession")
        func errors() async throws {
            let session = ClientSession(.ephemeral)
            let listener = try await TestServer()
            let gone = try url(listener, "/hello")
            await listener.server.shutdown()
            await #expect { try await session.data(from: gone) } throws: { error in
                (error as? URLError)?.code == .cannotConnectToHost
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
