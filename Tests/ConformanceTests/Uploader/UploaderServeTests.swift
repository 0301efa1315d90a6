import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("httpkit serve --uploader, used by curl", .fewAtOnce, .overTLSToo)
struct UploaderServeTests {
    private struct Answer: Decodable {
        struct Item: Decodable { var path: String }
        var items: [Item]
    }

    private func server(_ flags: String...) async throws -> (ServeProcess, Folder) {
        let folder = try Folder()
        try folder.write("old", to: "a.txt")
        return (try await ServeProcess(folder, ["--uploader", "/up"] + flags), folder)
    }

    @Test func theAddressIsTold() async throws {
        let (server, _) = try await server()
        #expect(
            await server.waitForOutput("Upload page at \(server.url("/up/"))\n"))
        let page = try await server.get("/up/")
        #expect(page.status == .ok)
        #expect(String(decoding: page.content, as: UTF8.self).contains("a.txt"))
        #expect(try await server.status(.get, "/a.txt") == 200)
    }

    @Test(
        "The listing of a folder links to its upload page if files may be changed",
        arguments: [
            (["--uploader", "/up"], true), (["--uploader", "/up/in"], true), ([], false),
            (["--uploader", "/up", "--read-only"], false), (["--webdav", "/dav"], false),
        ] as [([String], Bool)])
    func linkOfTheListing(_ flags: [String], _ isThere: Bool) async throws {
        let folder = try Folder()
        try folder.write("old", to: "a b/c.txt")
        let server = try await ServeProcess(folder, flags)
        let listing = try await server.get("/a%20b/").text
        let link = listing.firstMatch(of: /<a class="upload" href="([^"]*)">Upload</)
        #expect((link != nil) == isThere, "\(flags)")
        guard let link else { return }
        #expect(link.1 == "../\(flags[1].dropFirst())/?path=/a%20b/")
        let page = try await server.get("\(flags[1])/?path=/a%20b/")
        #expect(page.status == .ok && page.text.contains("c.txt"))
    }

    @Test(
        "The handler of the innermost path responds",
        arguments: [
            ("/dav", "/", "/echo"), ("/files/dav", "/files", "/files/echo"),
            ("/dav", "/dav/up", "/dav/up/echo"), ("/", "/up", "/echo"),
        ])
    func innermost(_ dav: String, _ page: String, _ echo: String) async throws {
        let folder = try Folder()
        try folder.write("old", to: "a.txt")
        let server = try await ServeProcess(
            folder, ["--webdav", dav, "--uploader", page, "--echo", echo])
        func path(_ prefix: String, _ rest: String) -> String {
            (prefix == "/" ? "" : prefix) + "/" + rest
        }
        let found = try await server.send(.propfind, path(dav, ""), ["Depth": "1"])
        #expect(found.status.code == 207 && found.text.contains("a.txt"))
        #expect(try await server.status(.put, path(dav, "b.txt"), body: .text("new")) == 201)
        let list = try await server.get(path(page, "list"))
        #expect(list.status == .ok && list.text.contains("\"b.txt\""))
        let told = try await server.get(echo)
        #expect(told.status == .ok && told.text.contains("\"target\":\"\(echo)\""))
    }

    @Test(
        "The same path for two handlers is refused",
        arguments: [
            ["--webdav", "/a", "--uploader", "/a/"], ["--webdav", "/a", "--echo", "/a"],
            ["--uploader", "/", "--echo", "/*"], ["--webdav", "/a/b", "--echo", "/a/b/*"],
        ])
    func samePath(_ flags: [String]) async throws {
        let result = try await Program.run(Program.httpkit, ["serve", "--port", "0"] + flags)
        #expect(result.status == 64 && result.complaints.contains("need different paths"))
    }

    @Test("A form is refused if one of its files is too long, but not because of its total length")
    func limitOfForms() async throws {
        let (server, folder) = try await server("--max-body", "1M", "--echo", "/echo")
        let source = try Folder()
        try source.write([UInt8](repeating: 1, count: 700_000), to: "short.bin")
        try source.write([UInt8](repeating: 1, count: (1 << 20) + 1), to: "long.bin")
        func form(_ names: String..., at path: String = "/up/upload") async throws -> String {
            let files = names.flatMap { ["-F", "files[]=@\(source.file($0).path)"] }
            let flags = ["-sS", "-m", "110", "-w", " %{http_code}"]
            return try await Program.run("curl", flags + files + [server.url(path)]).text
        }
        #expect(try await form("short.bin", "short.bin").hasSuffix(" 201"))
        let refused = try await form("short.bin", "long.bin")
        #expect(refused.hasSuffix(" 413"))
        #expect(refused.contains("long.bin is larger than the limit of 1.0 MiB"))
        #expect(folder.bytes("short (2).bin").count == 700_000 && folder.bytes("long.bin") == [])
        #expect(try await form("long.bin", at: "/echo").hasSuffix(" 413"))
    }

    /// The compressed length could reveal the token in it, together with text that another page has
    /// it show (BREACH).
    @Test("The upload page, which contains a token, is never compressed")
    func compression() async throws {
        let (server, _) = try await server("--webdav", "/dav")
        for path in ["/up/", "/up/token", "/up/list", "/dav/"] {
            let answer = try await server.curl("-i", "--compressed", path: path)
            let head = PlainResponse(head: answer.text)
            #expect(head.status == 200 && head["content-encoding"] == nil, "\(path)")
        }
        let listing = try await server.curl("-i", "--compressed", path: "/")
        #expect(PlainResponse(head: listing.text)["content-encoding"] == "gzip")
    }

    @Test("The cookie of the page is Secure if it was set over HTTPS")
    func cookie() async throws {
        let (server, _) = try await server()
        for path in ["/up/", "/up/token"] {
            let answer = try await server.get(path)
            let attributes = try #require(answer.fields[.setCookie]).split(separator: "; ")
            #expect(attributes.contains("Secure") == (TestTLS.current != nil), "\(path)")
            #expect(attributes.contains("HttpOnly") && attributes.contains("SameSite=Lax"))
        }
    }

    @Test("curl -F sends a form without a token")
    func formOfCurl() async throws {
        let (server, folder) = try await server()
        let source = try Folder()
        let content = [UInt8].noise(5_000_000, seed: 7)
        try source.write(content, to: "one \u{E9}.bin")
        try source.write("new", to: "a.txt")
        let result = try await server.curl(
            "-F", "path=/", "-F", "files[]=@\(source.file("one \u{E9}.bin").path)", "-F",
            "files[]=@\(source.file("a.txt").path)", "-w", " %{http_code}", path: "/up/upload")
        #expect(result.text.hasSuffix(" 201"))
        let answer = try JSONDecoder().decode(Answer.self, from: Data(result.output.dropLast(4)))
        #expect(answer.items.map(\.path) == ["/one \u{E9}.bin", "/a (1).txt"])
        #expect(folder.bytes("one \u{E9}.bin").elementsEqual(content))
        #expect(folder.text("a.txt") == "old" && folder.text("a (1).txt") == "new")
    }

    @Test(
        "curl uploads the content of one file, with and without its length",
        arguments: [[], ["chunked"]])
    func contentOfCurl(_ flags: [String]) async throws {
        let (server, folder) = try await server()
        let source = try Folder()
        let content = [UInt8].noise(5_000_000, seed: 8)
        try source.write(content, to: "data")
        let result = try await Program.run(
            "curl",
            ["-sS", "-m", "110", "--data-binary", "@\(source.file("data").path)"]
                + flags.flatMap { ["-H", "Transfer-Encoding: \($0)"] }
                + ["-H", "Content-Type: application/octet-stream", "-w", " %{http_code}"]
                + [server.url("/up/upload?path=/&name=in/a.txt")])
        #expect(result.text.hasSuffix(" 201"))
        #expect(folder.bytes("in/a.txt").elementsEqual(content))
        let read = try await server.curl(
            "-r", "1000000-1000999", path: "/up/download?path=/in/a.txt")
        #expect(read.output.elementsEqual(content[1_000_000..<1_001_000]))
    }

    @Test func halfAnUploadReplacesNothing() async throws {
        let (server, folder) = try await server()
        for content in ["half", String(repeating: "x", count: 3_000_000)] {
            let socket = try server.connect()
            try await socket.send(
                "POST /up/upload?name=a.txt&conflict=replace HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Length: 9000000\r\n\r\n" + content)
            socket.endWriting()
            _ = try? await socket.receiveAll()
        }
        let form =
            "--line\r\nContent-Disposition: form-data; name=\"f\"; filename=\"b.txt\"\r\n\r\nhalf"
        let socket = try server.connect()
        try await socket.send(
            "POST /up/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"
                + "Content-Type: multipart/form-data; boundary=line\r\n\r\n" + form)
        socket.endWriting()
        _ = try? await socket.receiveAll()
        // The received content is removed when the server has noticed the end of the stream.
        let scratch = folder.file(".httpkit-dav").path
        try await waitUntil {
            let files = FileManager.default.enumerator(atPath: scratch)?.allObjects as? [String]
            return !(files ?? []).contains { name in
                (try? FileManager.default.attributesOfItem(atPath: "\(scratch)/\(name)"))?[.size]
                    as? Int ?? 0 > 1_000_000
            }
        }
        #expect(folder.text("a.txt") == "old")
        #expect(try await server.status(.get, "/up/download?path=/b.txt") == 404)
    }

    @Test func theLocksOfWebDAVCount() async throws {
        let (server, folder) = try await server("--webdav", "/dav")
        let wish = """
            <lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/>\
            </locktype></lockinfo>
            """
        _ = try await server.curl("-X", "LOCK", "-d", wish, path: "/dav/a.txt")
        let refused = try await server.curl(
            "--data-binary", "new", "-w", " %{http_code}",
            path: "/up/upload?name=a.txt&conflict=replace")
        #expect(refused.text.hasSuffix(" 423"))
        #expect(folder.text("a.txt") == "old")
        let other = try await server.curl(
            "--data-binary", "new", "-w", " %{http_code}", path: "/up/upload?name=b.txt")
        #expect(other.text.hasSuffix(" 201"))
        #expect(try await server.curl(path: "/dav/b.txt").text == "new")
    }

    @Test func readOnlyAndHidden() async throws {
        let (server, folder) = try await server("--read-only")
        try folder.write("hidden", to: ".secret")
        let refused = try await server.curl(
            "--data-binary", "new", "-w", " %{http_code}", path: "/up/upload?name=b.txt")
        #expect(refused.text.hasSuffix(" 403"))
        #expect(try await server.status(.get, "/up/list") == 200)
        #expect(try await server.status(.get, "/up/download?path=/.secret") == 404)
        let (open, _) = try await self.server("--show-hidden", "--uploader-conflict", "refuse")
        let hidden = try await open.curl(
            "--data-binary", "new", "-w", " %{http_code}", path: "/up/upload?name=.new")
        #expect(hidden.text.hasSuffix(" 201"))
        let taken = try await open.curl(
            "--data-binary", "new", "-w", " %{http_code}", path: "/up/upload?name=a.txt")
        #expect(taken.text.hasSuffix(" 409"))
    }

    @Test func pagesElsewhereAreRefused() async throws {
        let (server, folder) = try await server()
        let host = try await server.get("/up/list", [.host: "evil.example"])
        #expect(host.status == .misdirectedRequest)
        let site = try await server.curl(
            "-H", "Origin: http://evil.example", "-d", "path=/a.txt", "-w", " %{http_code}",
            path: "/up/delete")
        #expect(site.text.hasSuffix(" 403"))
        #expect(folder.text("a.txt") == "old")
    }

    @Test(
        "Ten concurrent uploads of 40 MiB take less than 16 MiB of memory",
        .enabled(if: FullSuite.isOn, "make test-all"))
    func contentIsNeverInMemory() async throws {
        let (server, folder) = try await server()
        let source = try Folder()
        try source.write([UInt8](repeating: 7, count: 40 << 20), to: "data")
        let before = Self.memory(of: server.pid)
        await withTaskGroup { group in
            for number in 0..<10 {
                group.addTask {
                    _ = try? await server.curl(
                        "-F", "files[]=@\(source.file("data").path);filename=\(number)",
                        path: "/up/upload")
                }
            }
        }
        for number in 0..<10 { #expect(folder.bytes("\(number)").count == 40 << 20) }
        if let before, let after = Self.memory(of: server.pid), !Sanitizers.isOn {
            #expect(after - before < 16 << 10, "KiB before and after: \(before), \(after)")
        }
    }

    /// The peak memory of a process in KiB, if the system reports it.
    static func memory(of pid: CInt) -> Int? {
        let status = String(decoding: Folder.bytes(at: "/proc/\(pid)/status"), as: UTF8.self)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }
}
