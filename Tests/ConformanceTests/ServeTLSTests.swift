import Foundation
import TestSupport
import Testing

@Suite("httpkit serve over TLS", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServeTLSTests {
    /// A folder with a file, and certificates.
    private struct Site {
        let folder: Folder
        let certificates: TestCertificates

        init() async throws {
            folder = try Folder()
            try folder.write("content\n", to: "file")
            certificates = try await TestCertificates()
        }

        /// Writes a certificate and a key to the files of the server; returns its flags.
        func install(_ name: String, keyOf other: String? = nil) async throws -> [String] {
            let certificate = try await certificates.identity(for: name)
            let key = try await certificates.identity(for: other ?? name)
            try folder.write(
                String(decoding: Folder.bytes(at: certificate.certificate), as: UTF8.self),
                to: "tls.pem")
            try folder.write(
                String(decoding: Folder.bytes(at: key.key), as: UTF8.self), to: "tls.key")
            return [
                "--tls-certificate", folder.path + "/tls.pem", "--tls-key",
                folder.path + "/tls.key",
            ]
        }

        func curl(
            _ name: String, _ server: ServeProcess, _ flags: [String] = []
        ) async throws -> Program.Result {
            try await Program.run(
                "curl",
                [
                    "-sS", "-m", "110", "--cacert", certificates.authority.certificate,
                    "--resolve", "\(name):\(server.port):127.0.0.1",
                ] + flags + ["https://\(name):\(server.port)/file"])
        }
    }

    @Test("The first line has the https URL, and files are served over TLS")
    func serves() async throws {
        let site = try await Site()
        let server = try await ServeProcess(site.folder, try await site.install("a.test"))
        #expect(server.output.contains(" at https://127.0.0.1:\(server.port)/\n"))
        let result = try await site.curl("a.test", server, ["-H", "Host: 127.0.0.1"])
        #expect(result.text == "content\n", "\(result.complaints)")
    }

    @Test("A key of another certificate is reported in one line with status 2")
    func wrongKey() async throws {
        let site = try await Site()
        let flags = try await site.install("a.test", keyOf: "b.test")
        let result = try await Program.run(
            Program.httpkit, ["serve", site.folder.path, "--port", "0"] + flags)
        #expect(result.status == 2)
        let lines = result.complaints.split(separator: "\n")
        #expect(lines.count == 1, "\(lines)")
        #expect(
            lines.first?.hasSuffix("\(flags[3]): the key does not belong to the certificate")
                == true)
        #expect(result.text.isEmpty)
    }

    @Test("SIGHUP loads new certificates, and keeps the old ones if the files are invalid")
    func reload() async throws {
        let site = try await Site()
        let server = try await ServeProcess(site.folder, try await site.install("a.test"))
        let host = ["-H", "Host: 127.0.0.1"]
        _ = try await site.install("b.test", keyOf: "a.test")
        server.signal(SIGHUP)
        #expect(await server.waitForComplaint("certificates stay as they are"))
        #expect(try await site.curl("a.test", server, host).text == "content\n")
        _ = try await site.install("b.test")
        server.signal(SIGHUP)
        #expect(await server.waitForComplaint("certificates were reloaded"))
        #expect(try await site.curl("b.test", server, host).text == "content\n")
        #expect(try await site.curl("a.test", server, host).status == 60)
        server.signal(SIGTERM)
        #expect(await server.waitForEnd() == 0)
    }

    @Test("Plain HTTP at the port of TLS is redirected to https")
    func plain() async throws {
        let site = try await Site()
        let server = try await ServeProcess(site.folder, try await site.install("127.0.0.1"))
        let result = try await server.curl("-o", "/dev/null", "-w", "%{http_code} %{redirect_url}")
        #expect(result.text == "308 https://127.0.0.1:\(server.port)/")
        let followed = try await server.curl(
            "-L", "--cacert", site.certificates.authority.certificate, path: "/file")
        #expect(followed.text == "content\n", "\(followed.complaints)")
    }

    @Test("--hsts sets Strict-Transport-Security for host names; without it there is none")
    func strictTransport() async throws {
        let site = try await Site()
        let flags = try await site.install("a.test")
        for (more, value) in [([], nil), (["--hsts", "300"], "max-age=300")]
            as [([String], String?)]
        {
            let server = try await ServeProcess(
                site.folder, flags + ["--allow-host", "a.test"] + more)
            let answer = try await site.curl("a.test", server, ["-i"])
            let head = PlainResponse(head: answer.text)
            #expect(head.status == 200 && head["strict-transport-security"] == value)
            let address = try await site.curl("a.test", server, ["-i", "-H", "Host: 127.0.0.1"])
            #expect(
                PlainResponse(head: address.text)["strict-transport-security"] == nil)
            // Errors have it as well, but not the redirect of plain HTTP (RFC 6797 section 7.2).
            let missing = try await site.curl("a.test", server, ["-i", "-X", "DELETE"])
            let refused = PlainResponse(head: missing.text)
            #expect(refused.status == 405 && refused["strict-transport-security"] == value)
            let plain = try await server.curl("-i", "-H", "Host: a.test")
            #expect(PlainResponse(head: plain.text)["strict-transport-security"] == nil)
        }
    }

    @Test("The plain port redirects, and serves ACME challenges from a folder")
    func challenges() async throws {
        let site = try await Site()
        let webroot = try Folder()
        let flags = try await site.install("a.test")
        let server = try await ServeProcess(
            site.folder, flags + ["--redirect-http", "0", "--acme-challenges", webroot.path])
        let line = try #require(server.output.firstMatch(of: #/Redirecting http:.*:([0-9]+)/ to/#))
        let port = line.output.1
        let token = "/.well-known/acme-challenge/abc_DEF-1"
        func ask(_ path: String, _ more: String...) async throws -> String {
            try await Program.run(
                "curl",
                ["-sS", "-m", "60", "-w", " %{http_code} %{redirect_url}"] + more
                    + ["http://127.0.0.1:\(port)\(path)"]
            ).text
        }
        #expect(try await ask(token).hasSuffix(" 404 "))
        // As certbot writes it, with the same permissions of the file.
        try webroot.write("abc_DEF-1.print", to: String(token.dropFirst()))
        #expect(try await ask(token) == "abc_DEF-1.print 200 ")
        #expect(
            try await ask("/file?a") == " 308 https://127.0.0.1:\(server.port)/file?a")
        #expect(try await ask("/file", "-d", "x").hasSuffix(" 400 "))
        let missing = try await Program.run(
            Program.httpkit,
            ["serve", site.folder.path, "--port", "0", "--redirect-http", "0"] + flags
                + ["--acme-challenges", webroot.path + "/none"])
        #expect(missing.status == 2 && missing.complaints.contains("--acme-challenges: "))
    }

    @Test("Flags without the flags that they need are refused")
    func flags() async throws {
        for (flags, fault) in [
            (["--tls-certificate", "a"], "each --tls-certificate needs a --tls-key"),
            (["--tls-client-ca", "a"], "--tls-client-ca needs"),
            (["--redirect-http", "1"], "--redirect-http needs"),
            (["--acme-challenges", "/"], "--acme-challenges needs --redirect-http"),
            (["--hsts", "1"], "--hsts needs --tls-certificate"),
            (["--hsts", "1", "--tls-development"], "no --tls-development"),
            (["--hsts=-1", "--tls-development"], "--hsts takes a number of seconds"),
        ] {
            let result = try await Program.run(
                Program.httpkit, ["serve", "/", "--port", "0"] + flags)
            #expect(
                result.status == 64 && result.complaints.contains(fault), "\(result.complaints)")
        }
    }

    @Test("The certificate for development is signed by an authority in the configuration folder")
    func development() async throws {
        let site = try await Site()
        let server = try await ServeProcess(
            site.folder, ["--tls-development"],
            by: ["/usr/bin/env", "XDG_CONFIG_HOME=\(site.folder.path)/config"])
        let result = try await Program.run(
            "curl",
            [
                "-sS", "-m", "110", "--cacert",
                "\(site.folder.path)/config/httpkit/development-ca.pem",
                "https://localhost:\(server.port)/file",
            ])
        #expect(result.text == "content\n", "\(result.complaints)")
        #expect(server.complaints.contains("config/httpkit/development-ca.pem; trust it"))
    }

    @Test("Without HOME there is no certificate for development, and no key in the current folder")
    func homeless() async throws {
        let folder = try Folder()
        let result = try await Program.run(
            "/usr/bin/env",
            [
                "-u", "XDG_CONFIG_HOME", "-u", "HOME", Program.httpkit, "serve", "--port", "0",
                "--show-hidden", "--tls-development",
            ], folder: folder.path)
        #expect(result.status == 2 && result.output.isEmpty)
        let fault = "--tls-development needs HOME or XDG_CONFIG_HOME with an absolute path"
        #expect(result.complaints == "httpkit: \(fault)\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "serve works with additional OpenSSL providers of the system",
        arguments: [false, true])
    func providers(_ hasOther: Bool) async throws {
        let site = try await Site()
        let configuration = "\(site.folder.path)/openssl.cnf"
        try site.folder.write(
            """
            openssl_conf = all
            [all]
            providers = providers
            [providers]
            default = one
            \(hasOther ? "null = one" : "legacy = one")
            [one]
            activate = 1

            """, to: "openssl.cnf")
        let server = try await ServeProcess(
            site.folder, ["--tls-development"],
            by: [
                "/usr/bin/env", "XDG_CONFIG_HOME=\(site.folder.path)/config",
                "OPENSSL_CONF=\(configuration)",
            ])
        let result = try await Program.run(
            "curl",
            [
                "-sS", "-m", "110", "--tlsv1.3", "--cacert",
                "\(site.folder.path)/config/httpkit/development-ca.pem",
                "https://127.0.0.1:\(server.port)/file",
            ])
        #expect(result.text == "content\n", "\(result.complaints)")
    }
}
