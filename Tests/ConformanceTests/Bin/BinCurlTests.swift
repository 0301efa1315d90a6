import Foundation
import TestSupport
import Testing

@Suite("httpkit bin, used by curl", .fewAtOnce)
struct BinCurlTests {
    @Test("bin prints its addresses, one per line, and ends with status 0 on SIGTERM")
    func lifeCycle() async throws {
        let server = try await BinProcess()
        let lines = server.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("Serving httpbin at http://127.0.0.1:"))
        #expect(lines[1].hasPrefix("Broken answers at http://127.0.0.1:"))
        #expect(try await server.curl(path: "/").text.contains(server.torture))
        let named = try await server.curl("-H", "Host: bin.test:80", path: "/").text
        #expect(named.contains(server.torture.replacing("127.0.0.1", with: "bin.test")))
        // A broken response that never ends does not block the program.
        async let hanging = server.torture(path: "silence")
        #expect(try await server.curl(path: "/get").status == 0)
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
        #expect(try await hanging.status != 0)
    }

    @Test("A port in use, of either option, is reported with status 2")
    func takenPort() async throws {
        let server = try await BinProcess()
        for (flag, address) in [("--port", server.base), ("--torture-port", server.torture)] {
            let port = String(address.split(separator: ":").last ?? "")
            let other = flag == "--port" ? "--torture-port" : "--port"
            let result = try await Program.run(
                Program.httpkit, ["bin", flag, port, other, "0"])
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.complaints.contains("httpkit: "))
        }
    }

    @Test(
        "Digest (RFC 7616) works with every algorithm and quality of protection",
        arguments: ["auth", "auth-int"], ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"])
    func digest(quality: String, algorithm: String) async throws {
        let server = try await BinProcess()
        let path = "/digest-auth/\(quality)/ada/lovelace/\(algorithm)"
        let right = try await server.curl("--digest", "-u", "ada:lovelace", path: path)
        #expect(right.text.contains("\"authenticated\": true"))
        // With auth-int, curl always uses the hash of empty content.
        if quality == "auth" {
            let posted = try await server.curl(
                "--digest", "-u", "ada:lovelace", "-d", "some=content", path: path)
            #expect(posted.text.contains("\"authenticated\": true"))
        }
        for user in ["ada:wrong", "grace:lovelace"] {
            let wrong = try await server.curl(
                "--digest", "-u", user, "-o", "/dev/null", "-w", "%{http_code}", path: path)
            #expect(wrong.text == "401")
        }
    }

    @Test("A nonce that may not be used again is stale, and curl continues with a new one")
    func stale() async throws {
        let server = try await BinProcess()
        let path = "/digest-auth/auth/ada/lovelace/SHA-256/1"
        let result = try await Program.run(
            "curl",
            [
                "-sS", "-m", "110", "--digest", "-u", "ada:lovelace", "-w", "%{http_code}\n",
                server.base + path, server.base + path, server.base + path,
            ])
        #expect(result.text.components(separatedBy: "\n200\n").count == 4)
    }

    /// The codings that curl understands depend on its build.
    private static func curlHas(_ feature: String) async throws -> Bool {
        try await Program.run("curl", ["-V"]).text.contains(feature)
    }

    private func isUnderstood(_ path: String) async throws {
        let server = try await BinProcess()
        let result = try await server.curl("--compressed", path: path)
        #expect(result.status == 0 && result.text.hasPrefix("{\n"), "\(result.complaints)")
        #expect(result.text.hasSuffix("}\n"))
    }

    @Test(
        "curl decodes each content coding",
        .enabled("this curl has no zlib") { try await curlHas("libz") },
        arguments: ["/gzip", "/deflate"])
    func codings(path: String) async throws { try await isUnderstood(path) }

    @Test(
        "curl decodes Brotli",
        .enabled("this curl has no brotli") { try await curlHas("brotli") })
    func brotli() async throws { try await isUnderstood("/brotli") }

    @Test(
        "curl decodes Zstandard",
        .enabled("this curl has no zstd") { try await curlHas("zstd") })
    func zstandard() async throws { try await isUnderstood("/zstd") }

    @Test("curl follows redirects, also with POST, and sends cookies back")
    func redirects() async throws {
        let server = try await BinProcess()
        let chain = try await server.curl(
            "-L", "-o", "/dev/null", "-w", "%{num_redirects} %{url_effective}",
            path: "/absolute-redirect/5")
        #expect(chain.text == "5 \(server.base)/get")
        let kept = try await server.curl(
            "-L", "-d", "a=b", path: "/redirect-to?url=/anything&status_code=307")
        #expect(kept.text.contains("\"method\": \"POST\"") && kept.text.contains("\"a\": \"b\""))
        let cookies = try await server.curl(
            "-L", "-b", "", path: "/cookies/set?color=red&size=%2F9")
        #expect(
            cookies.text.contains("\"color\": \"red\"") && cookies.text.contains("\"size\": \"/9\"")
        )
    }

    @Test("Uploads are sent back with the same bytes")
    func uploads() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        let content = [UInt8].noise(300_000, seed: 3)
        try folder.write(content, to: "f.bin")
        let file = folder.file("f.bin").path
        for arguments in [
            ["-T", file], ["-F", "f=@\(file)"], ["-H", "Transfer-Encoding: chunked", "-T", file],
        ] {
            let result = try await Program.run(
                "curl", ["-sS", "-m", "110", "-X", "PUT"] + arguments + [server.base + "/put"])
            #expect(result.text.contains(";base64,\(Data(content).base64EncodedString())\""))
        }
    }

    @Test("curl resumes a download")
    func resumes() async throws {
        let server = try await BinProcess()
        let folder = try Folder()
        let whole = try await server.curl(path: "/range/100000")
        try folder.write(Array(whole.output[..<40_000]), to: "part")
        let path = folder.file("part").path
        let result = try await server.curl("-C", "-", "-o", path, path: "/range/100000")
        #expect(result.status == 0 && folder.bytes("part") == whole.output)
    }
}
