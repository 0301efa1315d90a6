import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import URLClient
import WebDAVKit

@Suite("The server through URLClient: handlers", .timeLimit(.minutes(3)))
struct ClientHandlerTests {
    private typealias Pair = ClientMessageTests.Pair

    @Test("RFC 9110, 14: single, several and unsatisfiable ranges")
    func ranges() async throws {
        let folder = try ServerDirectory()
        let content = [UInt8].noise(10_000, seed: 3)
        try folder.write("f", content)
        let pair = try await Pair { _, router in
            router.mount("/", try FileHandler(directory: folder.path))
        }
        let client = pair.client
        let all = try await client.get("/f")
        #expect(all.content == content && all.fields[.acceptRanges] == "bytes")
        for (range, part) in [
            ("bytes=0-99", 0..<100), ("bytes=9990-", 9_990..<10_000), ("bytes=-5", 9_995..<10_000),
        ] {
            let answer = try await client.get("/f", [.range: range])
            #expect(answer.status == .partialContent && answer.content == Array(content[part]))
            let text = "bytes \(part.lowerBound)-\(part.upperBound - 1)/10000"
            #expect(answer.fields[.contentRange] == text)
        }
        let several = try await client.get("/f", [.range: "bytes=0-0,5000-5001"])
        #expect(several.status == .partialContent)
        #expect(several.fields[.contentType]?.hasPrefix("multipart/byteranges") == true)
        let beyond = try await client.get("/f", [.range: "bytes=10000-"])
        #expect(beyond.status == .rangeNotSatisfiable)
        #expect(beyond.fields[.contentRange] == "bytes */10000")
        // A range of the current version, and of another version.
        let tag = try #require(all.fields[.eTag])
        for (condition, status) in [(tag, HTTPStatus.partialContent), ("\"other\"", .ok)] {
            let answer = try await client.get("/f", [.range: "bytes=0-9", .ifRange: condition])
            #expect(answer.status == status)
        }
        await pair.server.shutdown()
    }

    @Test("RFC 9110, 13: conditions of the application and of the cache")
    func conditions() async throws {
        let folder = try ServerDirectory()
        try folder.write("f", "first")
        let pair = try await Pair { _, router in
            router.mount("/", try FileHandler(directory: folder.path))
        }
        let first = try await pair.client.get("/f")
        let tag = try #require(first.fields[.eTag])
        #expect(try await pair.client.get("/f", [.ifNoneMatch: tag]).status == .notModified)
        #expect(try await pair.client.get("/f", [.ifMatch: "\"x\""]).status == .preconditionFailed)
        let date = try #require(first.fields[.lastModified])
        #expect(try await pair.client.get("/f", [.ifModifiedSince: date]).status == .notModified)
        let caching = TestClient(pair.client.base) { $0.cache = ClientCache() }
        #expect(try await !caching.get("/f").response.isFromCache)
        let again = try await caching.get("/f")
        #expect(again.response.isFromCache && again.text == "first" && again.status == .ok)
        try folder.write("f", "second, and longer")
        #expect(try await caching.get("/f").text == "second, and longer")
        await pair.server.shutdown()
    }

    @Test("RFC 9110, 8.4: gzip is requested and decoded, in both directions")
    func gzip() async throws {
        let text = String(repeating: "so much of the same ", count: 5_000)
        let pair = try await Pair { _, router in
            var inner = Router()
            inner.on(.get, "/") { _ in Response(.ok, body: .text(text)) }
            let echo = AsyncHandler { request in
                Response(.ok, body: .text("\(try await request.text(upTo: 1 << 20).utf8.count)"))
            }
            inner.route(.post, "/", to: echo)
            router.mount("/", CompressionHandler(inner))
        }
        let task = pair.client.session.dataTask(for: pair.client.request(.get, "/"))
        let response = try await task.finished()
        let transaction = try #require(task.metrics?.transactions.first)
        #expect(response.fields[.contentEncoding] == "gzip")
        #expect(transaction.responseContentBytes < Int64(text.utf8.count / 10))
        #expect(try await pair.client.get().text == text)
        let plain = try await pair.client.get("/", [.acceptEncoding: "identity"])
        #expect(plain.fields[.contentEncoding] == nil && plain.text == text)
        var coded: [UInt8] = []
        var encoder = try ContentEncoder(.gzip, level: 6)
        encoder.encode(Array(text.utf8).span, into: &coded)
        encoder.finish(into: &coded)
        let answer = try await pair.client.send(
            .post, "/", fields: [.contentEncoding: "gzip", .contentType: "text/plain"],
            body: .bytes(coded))
        #expect(answer.text == "\(text.utf8.count)")
        await pair.server.shutdown()
    }

    @Test("RFC 7578 and the URL standard: multipart and urlencoded forms")
    func forms() async throws {
        let folder = try ServerDirectory()
        let bytes = [UInt8].noise(300_000, seed: 8)
        try folder.write("notes.bin", bytes)
        let pair = try await Pair { _, router in
            let handler = AsyncHandler { request in
                let form = try await request.form()
                var lines = form.fields.map { "\($0.name)=\($0.value)" }
                for file in form.files {
                    lines.append("\(file.name): \(file.fileName) \(file.size)")
                }
                return Response(.ok, body: .text(lines.joined(separator: "\n")))
            }
            router.route(.post, "/", to: handler)
        }
        var form = ClientForm()
        try form.append("title", "Grüße & more")
        try form.append("file", file: folder.path("notes.bin"))
        let multipart = try await pair.client.send(.post, "/", body: .multipart(form))
        #expect(multipart.text == "title=Grüße & more\nfile: notes.bin 300000")
        let pairs = try await pair.client.send(
            .post, "/", body: .urlEncoded(["a": "1 + 1", "b": "&=ü"]))
        #expect(pairs.text == "a=1 + 1\nb=&=ü")
        await pair.server.shutdown()
    }

    @Test(
        "RFC 7617 and RFC 7616: Basic and Digest logins",
        arguments: [AuthenticationScheme.basic, .digest])
    func logins(_ scheme: AuthenticationScheme) async throws {
        let accounts = MemoryAccountStore(realm: "tests", rounds: 10)
        try accounts.add("ada", password: "lovelace")
        let pair = try await Pair { _, router in
            var options = Authenticator.Options()
            options.schemes = [scheme]
            let inner = AsyncHandler { request in
                let content = try await request.body.collect(upTo: 1 << 20)
                return Response(.ok, body: .text("\(request.method) \(content.count)"))
            }
            let guarded = AuthenticationHandler(
                inner, by: Authenticator(accounts: accounts, options: options))
            for method: HTTPMethod in [.get, .put] { router.route(method, "/in", to: guarded) }
        }
        func client(_ password: String) -> TestClient {
            TestClient(pair.client.base) { configuration in
                configuration.authentication.challenge = { challenge in
                    challenge.failureCount == 0
                        ? .use(.password(user: "ada", password: password)) : .reject
                }
            }
        }
        let known = client("lovelace")
        for _ in 0..<3 { #expect(try await known.get("/in").text == "GET 0") }
        let content = [UInt8](repeating: 1, count: 100_000)
        #expect(try await known.send(.put, "/in", body: .bytes(content)).text == "PUT 100000")
        #expect(try await client("wrong").get("/in").status == .unauthorized)
        #expect(try await pair.client.get("/in").status == .unauthorized)
        await pair.server.shutdown()
    }

    @Test("RFC 4918: methods of WebDAV")
    func webDAV() async throws {
        let pair = try await Pair { _, router in
            router.mountWebDAV("/dav", WebDAVHandler(store: MemoryStore()))
        }
        let client = pair.client
        func status(
            _ method: HTTPMethod, _ path: String, _ fields: HTTPFields = [:],
            _ body: ClientBody = .none
        ) async throws -> HTTPStatus {
            try await client.send(method, "/dav\(path)", fields: fields, body: body).status
        }
        let methods = ["MKCOL", "COPY", "MOVE", "PROPFIND", "LOCK", "UNLOCK"].compactMap {
            HTTPMethod($0)
        }
        let (mkcol, copy, move) = (methods[0], methods[1], methods[2])
        let (propfind, lock, unlock) = (methods[3], methods[4], methods[5])
        #expect(try await status(mkcol, "/a/") == .created)
        #expect(try await status(.put, "/a/f", [:], .text("content")) == .created)
        let destination = { (path: String) -> HTTPFields in
            ["Destination": "\(client.base)/dav\(path)"]
        }
        #expect(try await status(copy, "/a/f", destination("/a/g")) == .created)
        #expect(try await status(move, "/a/g", destination("/a/h")) == .created)
        #expect(try await client.get("/dav/a/h").text == "content")
        let found = try await client.send(propfind, "/dav/a/", fields: ["Depth": "1"])
        #expect(found.status.code == 207)
        for path in ["/dav/a/", "/dav/a/f", "/dav/a/h"] {
            #expect(found.text.contains("href>\(path)</"), "\(found.text)")
        }
        let owner = """
            <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype>\
            </lockinfo>
            """
        let held = try await client.send(
            lock, "/dav/a/f", body: .text(owner, mediaType: "application/xml"))
        let token = try #require(held.fields["Lock-Token"])
        #expect(try await status(.put, "/a/f", [:], .text("other")).code == 423)
        #expect(try await status(.put, "/a/f", ["If": "(\(token))"], .text("mine")) == .noContent)
        #expect(try await status(unlock, "/a/f", ["Lock-Token": token]) == .noContent)
        #expect(try await status(.delete, "/a/") == .noContent)
        #expect(try await status(.get, "/a/f") == .notFound)
        await pair.server.shutdown()
    }
}
