import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

/// Resumable uploads to the program. tuspy is installed for `TEST_ALL`.
@Suite("httpkit serve: resumable uploads", .fewAtOnce, .overTLSToo)
struct ResumableServeTests {
    private let share: Folder
    private let place: Folder

    init() throws {
        (share, place) = (try Folder(), try Folder())
    }

    private func serve(_ flags: String...) async throws -> ServeProcess {
        try await ServeProcess(
            share, ["--webdav", "/dav", "--uploader", "/up"] + flags)
    }

    /// The offset that the server reports.
    private func offset(_ location: String, _ server: ServeProcess) async throws -> Int? {
        let answer = try await server.send(.head, location)
        return answer.fields["Upload-Offset"].flatMap { Int($0) }
    }

    private func append(
        _ content: [UInt8], at offset: Int, to location: String, _ server: ServeProcess
    ) async throws -> TestClient.Answer {
        try await server.send(
            .patch, location,
            [
                "Upload-Offset": "\(offset)", "Upload-Complete": "?1",
                "Content-Type": "application/partial-upload",
            ], body: .bytes(content))
    }

    @Test("A PUT of WebDAV is uploaded in one request and in two")
    func webdav() async throws {
        let server = try await serve()
        let content = [UInt8].noise(3_000_000, seed: 3)
        try place.write(content, to: "data")
        let whole = try await server.curl(
            "-i", "-T", place.path + "/data", "-H", "Upload-Complete: ?1", path: "/dav/a.bin")
        #expect(whole.text.contains("HTTP/1.1 104 "))
        #expect(whole.text.contains("HTTP/1.1 201 "))
        #expect(whole.text.contains("Location: /dav/.uploads/"))
        #expect(whole.text.contains("ETag: "))
        #expect(share.bytes("a.bin").elementsEqual(content))
        let begun = try await server.send(.put, "/dav/b.bin", ["Upload-Complete": "?0"])
        #expect(begun.status == .created)
        let location = try #require(begun.fields["Location"])
        let last = try await append(content, at: 0, to: location, server)
        #expect(last.status == .created && last.fields["Upload-Complete"] == "?1")
        #expect(share.bytes("b.bin").elementsEqual(content))
        // A later change of the file does not affect the upload.
        try share.write("new", to: "b.bin")
        #expect(try await offset(location, server) == content.count)
        let listed = try await server.curl("-X", "PROPFIND", "-H", "Depth: 1", path: "/dav/")
        #expect(!listed.text.contains("uploads") && !listed.text.contains(".httpkit-dav"))
        #expect(try await server.status(.get, "/.httpkit-dav/") == 404)
    }

    @Test("An upload to the page is resumable, and a conflict is refused before content is sent")
    func page() async throws {
        let server = try await serve()
        let address = "/up/upload?path=/&name=a.txt&conflict=refuse"
        let begun = try await server.send(
            .post, address, ["Upload-Complete": "?0", "Content-Type": "application/octet-stream"])
        let location = try #require(begun.fields["Location"])
        #expect(location.hasPrefix("/up/.uploads/"))
        let last = try await append(Array("hello".utf8), at: 0, to: location, server)
        #expect(last.status == .created)
        #expect(String(decoding: last.content, as: UTF8.self).contains("\"path\":\"/a.txt\""))
        #expect(share.text("a.txt") == "hello")
        let taken = try await server.send(.post, address, ["Upload-Complete": "?0"])
        #expect(taken.status == .conflict && taken.fields["Location"] == nil)
        #expect(taken.fields["Upload-Complete"] == "?1")
    }

    @Test("Folders of an uploaded file are created when the file is complete")
    func folders() async throws {
        let server = try await serve()
        let begun = try await server.send(
            .post, "/up/upload?path=/&name=new/inner/a.txt",
            ["Upload-Complete": "?0", "Upload-Length": "5"])
        let location = try #require(begun.fields["Location"])
        #expect(!FileManager.default.fileExists(atPath: share.path + "/new"))
        #expect(
            try await append(Array("hello".utf8), at: 0, to: location, server).status == .created)
        #expect(share.text("new/inner/a.txt") == "hello")
    }

    @Test("--quota is checked before any content is sent, and again at the end")
    func quota() async throws {
        let server = try await serve("--quota", "10")
        #expect(try await server.status(.put, "/dav/b", body: .text("old")) == 201)
        for (method, path) in Self.targets {
            let refused = try await server.send(
                method, path, ["Upload-Complete": "?0", "Upload-Length": "8"])
            #expect(refused.status == .insufficientStorage && refused.fields["Location"] == nil)
            #expect(String(decoding: refused.content, as: UTF8.self).contains("quota"))
        }
        #expect(try await server.status(.delete, "/dav/b") == 204)
        let begun = try await server.send(
            .put, "/dav/a", ["Upload-Complete": "?0", "Upload-Length": "8"])
        let location = try #require(begun.fields["Location"])
        #expect(try await server.status(.put, "/dav/b", body: .text("other")) == 201)
        let content = Array("12345678".utf8)
        #expect(try await append(content, at: 0, to: location, server).status.code == 507)
        #expect(try await server.status(.delete, "/dav/b") == 204)
        #expect(try await append([], at: 8, to: location, server).status == .created)
        #expect(share.text("a") == "12345678")
    }

    private static let targets = [(HTTPMethod.put, "/dav/a"), (.post, "/up/upload?path=/&name=a")]

    @Test("A part of an upload that is longer than --quota is refused")
    func quotaOfParts() async throws {
        let server = try await serve("--quota", "10")
        let content = [UInt8](repeating: 0x78, count: 11)
        for (method, path) in Self.targets {
            let begin: HTTPFields = ["Upload-Complete": "?0"]
            for fields in [begin, ["Upload-Complete": "?0", "Upload-Length": "11"]] {
                let refused = try await server.send(method, path, fields, body: .bytes(content))
                #expect(refused.status == .contentTooLarge && refused.fields["Location"] == nil)
                #expect(refused.fields["Upload-Limit"]?.hasPrefix("max-size=10") == true)
            }
            let begun = try await server.send(method, path, begin)
            let location = try #require(begun.fields["Location"])
            #expect(try await append(content, at: 0, to: location, server).status.code == 413)
            #expect(try await offset(location, server) == 0)
        }
    }

    @Test("An upload to a locked file is refused before any content is sent")
    func locked() async throws {
        let server = try await serve()
        try share.write("old", to: "a.bin")
        let lock = """
            <?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>\
            <locktype><write/></locktype></lockinfo>
            """
        #expect(try await server.status(.lock, "/dav/a.bin", body: .text(lock)) == 200)
        let refused = try await server.send(.put, "/dav/a.bin", ["Upload-Complete": "?0"])
        #expect(refused.status == .locked && refused.fields["Location"] == nil)
        #expect(share.text("a.bin") == "old")
    }

    @Test("With --read-only no upload begins, and a deleted upload leaves no files")
    func ends() async throws {
        let readOnly = try await serve("--read-only")
        let refused = try await readOnly.send(.put, "/dav/a.bin", ["Upload-Complete": "?0"])
        #expect(refused.status.class == .clientError && refused.fields["Location"] == nil)
        let server = try await serve()
        let begun = try await server.send(.put, "/dav/a.bin", ["Upload-Complete": "?0"])
        let location = try #require(begun.fields["Location"])
        #expect(try await server.status(.delete, location) == 204)
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: share.path) == [])
    }

    /// `UPLOAD_KILLS` sets the number of rounds; the default is 4.
    @Test(
        "If the server is killed at random times, the offset never decreases, and no part is lost")
    func kills() async throws {
        let rounds = UploadScale.kills ?? 4
        // More than all rounds send; curl begins with the bytes that its rate allows for a second.
        let content = [UInt8].noise(max(2 * rounds, 8) << 20, seed: 5)
        var server = try await serve()
        let begun = try await server.send(
            .put, "/dav/a.bin", ["Upload-Complete": "?0", "Upload-Length": "\(content.count)"])
        let location = try #require(begun.fields["Location"])
        var known = 0
        for round in 0..<rounds {
            try place.write(Array(content[known...]), to: "rest")
            let (victim, start) = (server, known)
            async let sent = Program.run(
                "curl",
                [
                    "-sS", "-m", "60", "-X", "PATCH", "--data-binary", "@" + place.path + "/rest",
                    "--limit-rate", "\(Int.random(in: 20...190))K",
                    "-H", "Content-Type: application/partial-upload", "-H", "Upload-Complete: ?1",
                    "-H", "Upload-Offset: \(start)", victim.url(location),
                ])
            try await Task.sleep(for: .microseconds(Int.random(in: 0..<100_000)))
            // In even rounds HEAD, which ends the upload, reports the offset before the kill.
            let told = round % 2 == 0 ? try await offset(location, server) : nil
            server.signal(SIGKILL)
            _ = await server.waitForEnd()
            _ = try await sent
            server = try await serve()
            let after = try #require(try await offset(location, server))
            #expect(after >= max(told ?? 0, known), "round \(round)")
            known = after
            try #require(known < content.count, "only \(round + 1) rounds had an upload to cut")
        }
        let last = try await append(Array(content[known...]), at: known, to: location, server)
        #expect(last.status.class == .successful, "\(last.status)")
        #expect(share.bytes("a.bin").elementsEqual(content))
    }

    @Test("1,000 unfinished uploads take less than 2 MiB of memory")
    func memory() async throws {
        let count = FullSuite.isOn ? 1_000 : 50
        let server = try await serve()
        func begin(_ number: Int) async throws {
            let begun = try await server.send(
                .put, "/dav/\(number)", ["Upload-Complete": "?0"], body: .bytes([1, 2, 3]))
            #expect(begun.status == .created)
        }
        // The first uploads allocate the memory that all share.
        for number in 0..<20 { try await begin(number) }
        let before = try resident(server.pid)
        for number in 20..<count { try await begin(number) }
        let after = try resident(server.pid)
        #expect(after - before < 2 << 20, "\(before) and \(after)")
    }

    private func resident(_ pid: CInt) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return (Int(line.split(separator: " ")[1]) ?? 0) << 10
    }

    /// With `UPLOAD_MIB=1024` in the environment, 50 cuts may cost 1 % of 1 GiB: 214 KB per cut for
    /// the bytes in the system's buffers. Over TLS more bytes wait there, because a debug build of
    /// the server reads slower than the client sends, and a new request ends the older one.
    @Test("tuspy uploads over connections that are cut 50 times")
    func tuspy() async throws {
        let python = try await Program.python(having: "tusclient")
        let size = (UploadScale.mebibytes ?? 64) << 20
        try place.write([UInt8].noise(size, seed: 9), to: "data")
        let server = try await serve()
        let proxy = try await CuttingProxy(
            to: server.port, every: size / 51, cuts: 50, room: 16 << 10)
        let script = """
            import sys
            from tusclient import client
            tus = client.TusClient(sys.argv[1])
            up = tus.uploader(sys.argv[2], chunk_size=int(sys.argv[3]), retries=200, retry_delay=0,
                metadata={"filename": "a", "filetype": "application/x-test"})
            up.upload()
            print(up.offset)
            """
        let sent = try await Program.run(
            python,
            [
                "-c", script, server.url("/dav/a.bin", port: proxy.port), place.path + "/data",
                "\(min(size, 64 << 20))",
            ], limit: .seconds(240))
        #expect(sent.text == "\(size)\n", "\(sent.complaints)")
        let same = try await Program.run("cmp", [place.path + "/data", share.path + "/a.bin"])
        #expect(same.status == 0, "\(same.text)")
        try await waitUntil { proxy.counts?.left == 0 }
        let passed = try #require(proxy.counts).passed
        let limit = (1 << 30) / (TestTLS.current == nil ? 100 : 25)
        #expect(passed < size + limit, "\(passed - size) bytes more")
    }
}
