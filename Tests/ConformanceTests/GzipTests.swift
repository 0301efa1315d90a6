import Foundation
import TestSupport
import Testing

@Suite("RFC 9110 sections 8.4 and 12.5.3: gzip with other programs", .fewAtOnce, .overTLSToo)
struct GzipTests {
    private static let page = (0..<3_000).map { "line \($0 * 7_919 % 1_000)\n" }.joined()

    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write(Self.page, to: "page.txt")
        try folder.write(String(repeating: Self.page, count: 8), to: "long.txt")
        try folder.write([UInt8].noise(50_000, seed: 5), to: "photo.png")
        return folder
    }

    // MARK: Responses

    @Test(arguments: ["page.txt", "long.txt", "photo.png", ""])
    func curlDecodesWhatItIsSent(_ name: String) async throws {
        // Not in the served folder, because it would change the listing.
        let fields = try Folder()
        let server = try await ServeProcess(try folder())
        let plain = try await server.curl(path: "/\(name)")
        let coded = try await server.curl(
            "--compressed", "-D", fields.file("head").path, path: "/\(name)")
        let sent = try await server.curl(
            "--compressed", "-o", "/dev/null", "-w", "%{size_download}", path: "/\(name)")
        let isCoded = name != "photo.png"
        #expect(coded.output == plain.output)
        #expect(
            PlainResponse(head: fields.text("head"))["content-encoding"]
                == (isCoded ? "gzip" : nil))
        let size = try #require(Int(sent.text))
        #expect((size < plain.output.count) == isCoded)
    }

    @Test func theGzipCommandReadsIt() async throws {
        let server = try await ServeProcess(try folder())
        for name in ["page.txt", "long.txt"] {
            let coded = try await server.curl("-H", "Accept-Encoding: gzip", path: "/\(name)")
            let plain = try await Program.run("gzip", ["-dc"], input: coded.output)
            #expect(plain.status == 0 && plain.complaints.isEmpty)
            #expect(try await server.curl(path: "/\(name)").output == plain.output)
        }
    }

    @Test func nothingIsCompressedWithoutTheFlag() async throws {
        let folder = try folder()
        try folder.write([1, 2, 3], to: "page.txt.gz")
        let server = try await ServeProcess(folder, ["--no-gzip"])
        let answer = PlainResponse(
            head: try await server.curl("--compressed", "-I", path: "/page.txt").text)
        #expect(answer.status == 200)
        #expect(answer["content-encoding"] == nil && answer["vary"] == nil)
    }

    @Test func aFileCompressedByGzipIsSentAsItIs() async throws {
        let folder = try folder()
        let made = try await Program.run("gzip", ["-9", "-k", folder.file("page.txt").path])
        #expect(made.status == 0)
        let server = try await ServeProcess(folder, ["--gzip"])
        let coded = try await server.curl("-H", "Accept-Encoding: gzip", path: "/page.txt")
        #expect(coded.output == folder.bytes("page.txt.gz"))
        let decoded = try await server.curl("--compressed", path: "/page.txt")
        #expect(decoded.text == Self.page)
    }

    @Test func aCacheRevalidatesByTheVariantsTag() async throws {
        let folder = try folder()
        let server = try await ServeProcess(folder)
        let tags = folder.file("tags").path
        let first = try await server.curl(
            "--compressed", "--etag-save", tags, path: "/page.txt")
        #expect(first.text == Self.page)
        let second = try await server.curl(
            "--compressed", "--etag-compare", tags, "-w", "%{http_code}", path: "/page.txt")
        #expect(second.text == "304")
        let plain = try await server.curl(
            "--etag-compare", tags, "-o", "/dev/null", "-w", "%{http_code}", path: "/page.txt")
        #expect(plain.text == "200")
    }

    // MARK: Requests

    private func python(_ script: String, _ server: ServeProcess) async throws -> Program.Result {
        let python = try await Program.python(having: "requests")
        return try await Program.run(python, ["-c", script, server.url()])
    }

    @Test func pythonRequestsTalksBothWays() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        let result = try await python(
            """
            import base64, gzip, requests, sys, zlib
            page = requests.get(sys.argv[1] + "page.txt", timeout=60)
            assert page.headers["Content-Encoding"] == "gzip" and len(page.content) > 20000
            raw = zlib.compressobj(6, zlib.DEFLATED, -15)
            forms = [("gzip", gzip.compress(page.content)), ("x-gzip", gzip.compress(b"a") * 2),
                     ("deflate", zlib.compress(page.content)),
                     ("deflate", raw.compress(page.content) + raw.flush())]
            for coding, content in forms:
                for body in [content, iter([content[:10], content[10:]])]:
                    echo = requests.post(sys.argv[1] + "echo", data=body, timeout=60,
                                         headers={"Content-Encoding": coding})
                    seen = base64.b64decode(echo.json()["content"])
                    assert seen == (b"aa" if coding == "x-gzip" else page.content), coding
            print("agreed")
            """, server)
        #expect(result.text == "agreed\n" && result.complaints.isEmpty)
    }

    @Test func curlIsToldWhichCodingsAreTaken() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        let answer = try await server.curl(
            "-i", "-H", "Content-Encoding: br", "-H", "Expect: 100-continue", "-d", "abc",
            path: "/echo")
        let head = PlainResponse(head: answer.text)
        #expect(head.status == 415)
        #expect(head["accept-encoding"] == "gzip, deflate")
    }

    @Test func aBombIsRefused() async throws {
        let server = try await ServeProcess(try folder(), ["--echo", "/echo"])
        // 10 GiB of zeros in 10 MiB: a repeated piece that decodes to 1 MiB.
        let result = try await python(
            """
            import requests, sys, zlib
            coder = zlib.compressobj(9, zlib.DEFLATED, -15)
            piece = coder.compress(bytes(1 << 20)) + coder.flush(zlib.Z_FULL_FLUSH)
            head = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
            for body in [head + piece * 10240, iter([head] + [piece] * 10240)]:
                try:
                    answer = requests.post(sys.argv[1] + "echo", data=body, timeout=60,
                                           headers={"Content-Encoding": "gzip"})
                    print(answer.status_code)
                except requests.exceptions.ConnectionError:
                    print("cut off")
            print(requests.get(sys.argv[1] + "page.txt", timeout=60).status_code)
            """, server)
        let lines = result.text.split(separator: "\n")
        // A client that sends for long may find the connection closed before it reads the response.
        #expect(lines.count == 3 && lines.last == "200")
        #expect(lines.dropLast().allSatisfy { $0 == "413" || $0 == "cut off" })
    }
}
