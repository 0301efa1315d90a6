import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPServerTLS
import TestSupport
import Testing
import URLClient

@Suite("TLS clients of other projects", .timeLimit(.minutes(3)))
struct PeerTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"

    // MARK: openssl s_client

    private func client(
        _ port: UInt16, _ folder: ServerDirectory, _ flags: [String]
    ) async throws -> Program.Result {
        try await Program.run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "a.test", "-CAfile",
                folder.path("ca.pem"), "-verify_return_error", "-verify_hostname", "a.test",
                "-ign_eof",
            ] + flags, input: Array(Self.request.utf8))
    }

    @Test(
        "openssl verifies the certificate, and resumes its session",
        arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
    func openssl(_ flag: String, _ version: String) async throws {
        try await SecureServer.run(try SecureServer.context()) { port, folder in
            let file = folder.path("session")
            for (flags, start) in [
                (["-sess_out", file], "New, "), (["-sess_in", file], "Reused, "),
            ] {
                let result = try await client(port, folder, [flag] + flags)
                #expect(result.status == 0, "\(result.complaints)")
                #expect(result.text.contains("Verification: OK"))
                #expect(result.text.contains("\(start)\(version)"), "\(result.text)")
                #expect(result.text.contains("https a.test \(version) - - -"))
                // Neither compression nor renegotiation nor early data.
                #expect(result.text.contains("Compression: NONE"))
            }
        }
    }

    @Test("The sent chain is that of the file, although the issuer is an authority for clients")
    func chain() async throws {
        let authority = try SecureServer.authority.get()
        let context = try SecureServer.context {
            $0.clientAuthentication = .optional(authorities: authority.chain)
        }
        try await SecureServer.run(context) { port, folder in
            let result = try await client(port, folder, ["-showcerts"])
            #expect(result.text.contains("Verification: OK"))
            #expect(result.text.ranges(of: "BEGIN CERTIFICATE").count == 1)
        }
    }

    @Test(
        "Old versions and ciphers without forward secrecy are refused by an alert",
        arguments: [
            (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], "protocol version"),
            (["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], "protocol version"),
            (["-tls1_2", "-cipher", "AES128-SHA:AES128-GCM-SHA256"], "handshake failure"),
            (["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"], "handshake failure"),
        ])
    func refused(_ flags: [String], _ alert: String) async throws {
        try await SecureServer.run(try SecureServer.context()) { port, folder in
            let result = try await client(port, folder, flags)
            #expect(result.status == 1)
            #expect(result.complaints.contains("alert \(alert)"), "\(result.complaints)")
            #expect(!result.text.contains("https"))
        }
        try await SecureServer.run(try SecureServer.context { $0.minimumVersion = .tls13 }) {
            let result = try await client($0, $1, ["-tls1_2"])
            #expect(result.complaints.contains("alert protocol version"))
        }
    }

    @Test("A renegotiation is refused by an alert")
    func renegotiation() async throws {
        try await SecureServer.run(try SecureServer.context()) { port, _ in
            // The client reads commands from standard input, whose end would end it too early.
            let client = try RunningProgram(
                "sh",
                [
                    "-c",
                    """
                    (echo R; exec tail -f /dev/null) |
                        openssl s_client -connect 127.0.0.1:\(port) -tls1_2
                    """,
                ], isGroup: true)
            let isRefused = await client.wait { $0.complaints.contains("no renegotiation") }
            #expect(isRefused, "\(client.complaints)")
        }
    }

    // MARK: Python

    @Test("Python checks the name, and sends and reads long content")
    func python() async throws {
        let script = """
            import hashlib, http.client, os, ssl, sys
            port, authority = int(sys.argv[1]), sys.argv[2]
            context = ssl.create_default_context(cafile=authority)
            try:
                context.wrap_socket(__import__("socket").create_connection(("127.0.0.1", port)),
                                    server_hostname="other.test")
            except ssl.SSLCertVerificationError as error:
                print("refused:", "other.test" in str(error))
            class Client(http.client.HTTPSConnection):
                def connect(self):
                    self.sock = context.wrap_socket(
                        __import__("socket").create_connection(("127.0.0.1", port)),
                        server_hostname="a.test")
            client = Client("a.test", port, timeout=60)
            for size in (0, 1, 16384, 16385, 3000000):
                content = os.urandom(size)
                client.request("POST", "/", content)
                answer = client.getresponse().read()
                print(size, answer == content)
            """
        let echo = AsyncHandler { request in
            Response(.ok, body: .bytes(try await request.body.collect(upTo: 4 << 20)))
        }
        try await SecureServer.run(try SecureServer.context(), echo) { port, folder in
            let result = try await Program.run(
                "python3", ["-c", script, "\(port)", folder.path("ca.pem")])
            #expect(
                result.text
                    == "refused: True\n0 True\n1 True\n16384 True\n16385 True\n3000000 True\n",
                "\(result.complaints)")
        }
    }

    // MARK: URLClient

    private func ask(
        _ port: UInt16, _ name: String = "a.test", _ change: (inout ClientConfiguration) -> Void
    ) async throws -> String {
        let client = TestClient(
            "https://\(name):\(port)", at: ConnectTarget(host: "127.0.0.1"), change)
        return try await client.get().text
    }

    @Test("URLClient reads the authority from a file or bytes, and sends the host name as SNI")
    func urlClient() async throws {
        let authority = Array(try SecureServer.authority.get().text.utf8)
        let other = Array(try MadeCertificate("CA", isAuthority: true).text.utf8)
        try await SecureServer.run(try SecureServer.context()) { port, folder in
            for source in [TLSOptions.Source.file(folder.path("ca.pem")), .pem(authority)] {
                let text = try await ask(port) { $0.tls.authorities = source }
                #expect(text == "https a.test TLSv1.3 - - -")
                await #expect(throws: ClientError.self) {
                    try await ask(port, "b.test") { $0.tls.authorities = source }
                }
            }
            await #expect(throws: ClientError.self) {
                try await ask(port) { $0.tls.authorities = .pem(other) }
            }
        }
    }

    @Test("URLClient sends its certificate; without a certificate the request fails")
    func clientCertificate() async throws {
        let authority = try SecureServer.authority.get()
        let alice = try MadeCertificate("alice", issuer: authority)
        let trusted = TLSOptions.Source.pem(Array(authority.text.utf8))
        let context = try SecureServer.context {
            $0.clientAuthentication = .required(authorities: authority.chain)
        }
        try await SecureServer.run(context) { port, _ in
            let text = try await ask(port) {
                $0.tls.authorities = trusted
                $0.tls.clientCertificate = TLSOptions.ClientCertificate(
                    certificate: .pem(Array(alice.text.utf8)), key: .pem(Array(alice.keyText.utf8)))
            }
            #expect(text == "https a.test TLSv1.3 alice Certificate CN=alice")
            await #expect(throws: ClientError.self) {
                try await ask(port) { $0.tls.authorities = trusted }
            }
        }
    }
}
