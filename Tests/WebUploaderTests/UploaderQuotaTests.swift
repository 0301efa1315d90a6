import HTTPParser
import HTTPServerCore
import TestSupport
import Testing
import ToolkitSystem
import WebUploader

@Suite("The upload page: Quotas")
struct UploaderQuotaTests {
    /// A user with a quota of so many bytes. An upload counts once its event is reported.
    private func client(
        _ bytes: Int64, user: String? = nil, used: Locked<Int64> = Locked(0),
        hasBegun: Locked<Bool> = Locked(false)
    ) -> UploaderClient {
        var options = UploaderOptions()
        options.uploadProgress = { _ in hasBegun.withLock { $0 = true } }
        options.quota = { _ in bytes - used.withLock { $0 } }
        options.onEvent = { event in
            guard event.failure == nil, case .upload = event.operation else { return }
            used.withLock { $0 += 5 }
        }
        return UploaderClient(user: user, options)
    }

    @Test("Uploads up to the quota are accepted, longer ones are 507, with and without a length")
    func limit() async throws {
        for chunked in [false, true] {
            for (limit, status) in [(4, 507), (5, 201), (6, 201), (0, 507), (-1, 507)] {
                let client = client(Int64(limit))
                let answer =
                    chunked
                    ? try await client.send(
                        "POST", "/up/upload?name=a", ["Transfer-Encoding: chunked"],
                        Array("5\r\nhello\r\n0\r\n\r\n".utf8))
                    : try await client.upload("name=a", "hello")
                #expect(answer.status == status, "\(limit) \(chunked)")
                if status == 507 { #expect(answer.code == "quota" && answer.isProblem) }
                #expect(try await client.text("a") == (status == 507 ? nil : "hello"))
            }
        }
    }

    @Test("The quota applies to each file of a form in turn")
    func form() async throws {
        let client = client(9)
        let answer = try await client.form([
            ("files", "a", "hello"), ("files", "b", "hello"),
        ])
        #expect(answer.status == 507 && answer.code == "quota")
        #expect(try await client.get("list").names == ["a"])
    }

    @Test("An announced length is refused before the content is sent")
    func early() async throws {
        let client = client(5)
        let connection = MemoryConnection(client.handler)
        connection.send(
            "POST /up/upload?name=a HTTP/1.1\r\nHost: example.org\r\nContent-Length: 6\r\n"
                + "Expect: 100-continue\r\nConnection: close\r\n\r\n")
        try await connection.output("\r\n\r\n")
        connection.end()
        let record = try await connection.closed()
        #expect(record.text.hasPrefix("HTTP/1.1 507 "))
    }

    @Test("Two concurrent uploads share the remaining quota")
    func together() async throws {
        let (used, hasBegun) = (Locked<Int64>(0), Locked(false))
        let client = client(9, user: "ann", used: used, hasBegun: hasBegun)
        let first = MemoryConnection(client.handler)
        first.send(
            "POST /up/upload?name=a HTTP/1.1\r\nHost: example.org\r\nContent-Length: 5\r\n"
                + "Connection: close\r\n\r\nhe")
        try await waitUntil { hasBegun.withLock { $0 } }
        #expect(try await client.upload("name=b", "hello").status == 507)
        // The bytes of the refused upload are free again.
        #expect(try await client.upload("name=b", "four").status == 201)
        used.withLock { $0 = 4 }
        first.end()
        _ = try await first.closed()
        // The bytes of the aborted upload are free again, too.
        try await waitUntil { try await client.upload("name=c", "hello").status == 201 }
    }

    @Test("A copy counts with its whole tree, and a move does not")
    func copies() async throws {
        let client = client(9)
        try await client.makeFolder("folder")
        try await client.put("folder/a", "hello")
        try await client.put("folder/b", "hello")
        let whole = try await client.post("copy", "oldPath=/folder&newPath=/other")
        #expect(whole.status == 507 && whole.code == "quota")
        #expect(try await client.post("copy", "oldPath=/folder/a&newPath=/a").status == 200)
        #expect(try await client.post("move", "oldPath=/folder&newPath=/other").status == 200)
        #expect(try await client.get("list").names == ["other", "a"])
    }

    @Test("An error of the program's quota becomes the response")
    func refusal() async throws {
        var options = UploaderOptions()
        options.quota = { _ in throw HTTPError(.tooManyRequests) }
        let client = UploaderClient(options)
        #expect(try await client.upload("name=a").status == 429)
        options.quota = { _ in nil }
        #expect(try await UploaderClient(options).upload("name=a").status == 201)
    }
}
