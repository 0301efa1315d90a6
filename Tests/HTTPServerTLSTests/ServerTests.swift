import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPServerTLS
import TestSupport
import Testing
import ToolkitSystem

@Suite("Servers over TLS", .timeLimit(.minutes(3)))
struct ServerTests {
    private func curl(
        _ name: String, _ port: UInt16, _ folder: ServerDirectory, _ flags: [String] = []
    ) async throws -> Program.Result {
        try await Program.run(
            "curl",
            [
                "-sS", "-m", "60", "--cacert", folder.path("ca.pem"), "--resolve",
                "\(name):\(port):127.0.0.1",
            ] + flags + ["https://\(name):\(port)/"])
    }

    @Test("curl verifies each of three certificates for its name", arguments: ["1.2", "1.3"])
    func names(_ version: String) async throws {
        let certificates = try ["one.test", "two.test", "*.wild.test"].map {
            try SecureServer.leaf($0).pair
        }
        let context = try TLSContext(TLSConfiguration(certificates: certificates))
        try await SecureServer.run(context) { port, folder in
            for name in ["one.test", "two.test", "x.wild.test"] {
                let result = try await curl(
                    name, port, folder, ["--tlsv\(version)", "--tls-max", version])
                #expect(result.text == "https \(name) TLSv\(version) - - -", "\(result.complaints)")
            }
            // For other names the server sends the first certificate, which does not match.
            #expect(try await curl("other.test", port, folder).status == 60)
        }
    }

    @Test("The minimum version of TLS is that of the configuration")
    func versions() async throws {
        var configuration = TLSConfiguration(certificates: [try SecureServer.leaf("a.test").pair])
        configuration.minimumVersion = .tls13
        try await SecureServer.run(try TLSContext(configuration)) { port, folder in
            let old = try await curl("a.test", port, folder, ["--tls-max", "1.2"])
            #expect(old.status == 35)
            let new = try await curl("a.test", port, folder)
            #expect(new.text.hasPrefix("https a.test TLSv1.3"))
        }
    }

    @Test("A client's certificate is its identity; it is not requested, optional or required")
    func clientCertificates() async throws {
        let authority = try SecureServer.authority.get()
        let certificate = try SecureServer.leaf("a.test").pair
        let alice = try MadeCertificate("alice", issuer: authority)
        let mallory = try MadeCertificate(
            "alice", issuer: try MadeCertificate("CA", isAuthority: true))
        for (authentication, none, ours, theirs) in [
            (TLSConfiguration.ClientAuthentication.none, "-", "-", "-"),
            (.optional(authorities: authority.chain), "-", "alice Certificate CN=alice", nil),
            (.required(authorities: authority.chain), nil, "alice Certificate CN=alice", nil),
        ] as [(TLSConfiguration.ClientAuthentication, String?, String, String?)] {
            var configuration = TLSConfiguration(certificates: [certificate])
            configuration.clientAuthentication = authentication
            try await SecureServer.run(try TLSContext(configuration)) { port, folder in
                for (client, expected) in [(nil, none), (alice, ours), (mallory, theirs)]
                    as [(MadeCertificate?, String?)]
                {
                    var flags: [String] = []
                    if let client {
                        try folder.write("c.pem", client.text)
                        try folder.write("c.key", client.keyText)
                        flags = ["--cert", folder.path("c.pem"), "--key", folder.path("c.key")]
                    }
                    let result = try await curl("a.test", port, folder, flags)
                    let end = expected == "-" ? "- - -" : expected
                    let text = end.map { "https a.test TLSv1.3 \($0)" } ?? ""
                    #expect(result.text == text, "\(authentication) \(result.complaints)")
                    #expect((result.status == 0) == (expected != nil))
                }
            }
        }
    }

    @Test(
        "A resumed session keeps the client's certificate",
        arguments: [TLSClient.tls12, TLSClient.tls13])
    func resumedIdentity(_ version: CInt) throws {
        let authority = try SecureServer.authority.get()
        let context = try TLSContext.test {
            $0.clientAuthentication = .required(authorities: authority.chain)
        }
        var session: TLSClient.Session?
        for isResumed in [false, true] {
            let client = TLSClient(version: version, session: session)
            if !isResumed {
                #expect(client.use(try MadeCertificate("alice", issuer: authority)))
            }
            let pair = TLSPair(context, client)
            try pair.shakeHands()
            _ = pair.send([1])
            _ = pair.readByClient()
            let security = pair.owner.facts.security?.value
            #expect(security?.isResumed == isResumed)
            #expect(security?.peerCertificate?.commonName == "alice")
            #expect(security?.peerCertificate?.issuer == "CN=CA")
            #expect((security?.peerCertificate?.encoded.count ?? 0) > 100)
            session = client.session
        }
    }

    @Test(
        "A session is not resumed after the client's certificate expires",
        arguments: [TLSClient.tls12, TLSClient.tls13])
    func expiredIdentity(_ version: CInt) async throws {
        let authority = try SecureServer.authority.get()
        let context = try TLSContext.test {
            $0.clientAuthentication = .optional(authorities: authority.chain)
        }
        let alice = TLSClient(version: version)
        #expect(alice.use(try MadeCertificate("alice", seconds: 2, issuer: authority)))
        let first = TLSPair(context, alice)
        try first.shakeHands()
        _ = first.send([1])
        _ = first.readByClient()
        #expect(first.owner.facts.security?.value.peerCertificate?.commonName == "alice")
        try await Task.sleep(for: .seconds(3))
        let second = TLSPair(context, TLSClient(version: version, session: alice.session))
        try second.shakeHands()
        let security = second.owner.facts.security?.value
        #expect(security?.isResumed == false && security?.peerCertificate == nil)
    }

    @Test(
        "A session is not resumed after the authorities change",
        arguments: [TLSClient.tls12, TLSClient.tls13], [false, true])
    func otherAuthorities(_ version: CInt, _ isChanged: Bool) throws {
        let folder = try ServerDirectory()
        let authority = try SecureServer.authority.get()
        let other = try MadeCertificate("Other CA", isAuthority: true)
        try folder.write("clients.pem", authority.text)
        let context = try TLSContext.test {
            $0.clientAuthentication = .optional(authorities: .file(folder.path("clients.pem")))
        }
        let alice = TLSClient(version: version)
        #expect(alice.use(try MadeCertificate("alice", issuer: authority)))
        let first = TLSPair(context, alice)
        try first.shakeHands()
        _ = first.send([1])
        _ = first.readByClient()
        #expect(first.owner.facts.security?.value.peerCertificate?.commonName == "alice")
        if isChanged { try folder.write("clients.pem", other.text) }
        try context.reload()
        let second = TLSPair(context, TLSClient(version: version, session: alice.session))
        try second.shakeHands()
        let security = second.owner.facts.security?.value
        #expect(security?.isResumed == !isChanged)
        #expect(security?.peerCertificate?.commonName == (isChanged ? nil : "alice"))
    }

    @Test(
        "A server that requires a certificate does not resume a session without one",
        arguments: [TLSClient.tls12, TLSClient.tls13])
    func otherRule(_ version: CInt) throws {
        let folder = try ServerDirectory()
        try folder.write("keys", [UInt8](repeating: 7, count: 80))
        let authorities = try SecureServer.authority.get().chain
        func context(_ rule: TLSConfiguration.ClientAuthentication) throws -> TLSContext {
            try .test {
                $0.clientAuthentication = rule
                $0.ticketKeyFile = folder.path("keys")
            }
        }
        let first = TLSPair(
            try context(.optional(authorities: authorities)), TLSClient(version: version))
        try first.shakeHands()
        _ = first.send([1])
        _ = first.readByClient()
        let session = try #require(first.client.session)
        let again = TLSPair(
            try context(.optional(authorities: authorities)),
            TLSClient(version: version, session: session))
        try again.shakeHands()
        #expect(again.owner.facts.security?.value.isResumed == true)
        let strict = TLSPair(
            try context(.required(authorities: authorities)),
            TLSClient(version: version, session: session))
        #expect(throws: TLSPair.Failure.self) { try strict.shakeHands() }
        #expect(strict.owner.facts.security == nil)
    }

    @Test("Python resumes its sessions", arguments: ["TLSv1_2", "TLSv1_3"])
    func resumption(_ version: String) async throws {
        let context = try TLSContext(
            TLSConfiguration(certificates: [try SecureServer.leaf("a.test").pair]))
        let script = """
            import socket, ssl, sys
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.minimum_version = context.maximum_version = ssl.TLSVersion.\(version)
            session, reused = None, []
            for _ in range(4):
                plain = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                with context.wrap_socket(plain, session=session) as secure:
                    secure.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
                    while secure.recv(4096): pass
                    reused.append(secure.session_reused)
                    session = secure.session
                print(reused[-1], flush=True)
            """
        try await SecureServer.run(context) { port, _ in
            try context.reload()
            let result = try await Program.run("python3", ["-c", script, "\(port)"])
            #expect(result.text == "False\nTrue\nTrue\nTrue\n", "\(result.complaints)")
        }
    }

    @Test("Reloads break no connection")
    func reloadUnderLoad() async throws {
        let certificate = try SecureServer.leaf("a.test")
        let context = try TLSContext(TLSConfiguration(certificates: [certificate.pair]))
        let script = """
            import http.client, ssl, sys, threading
            context = ssl._create_unverified_context()
            failures, done = [], []
            def ask():
                for _ in range(60):
                    try:
                        client = http.client.HTTPSConnection(
                            "127.0.0.1", int(sys.argv[1]), timeout=60, context=context)
                        for _ in range(3):
                            client.request("GET", "/")
                            if client.getresponse().read().startswith(b"https"): done.append(1)
                        client.close()
                    except Exception as error:
                        failures.append(repr(error))
            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(len(done), len(failures), *failures[:3])
            """
        try await SecureServer.run(context) { port, _ in
            let program = try RunningProgram("python3", ["-c", script, "\(port)"])
            var reloads = 0
            while program.isRunning {
                try context.reload()
                reloads += 1
                await Task.yield()
            }
            #expect(await program.end() == 0)
            #expect(program.text == "720 0\n", "\(program.complaints)")
            #expect(reloads > 3)
        }
    }

    // MARK: Files

    private func files(_ folder: ServerDirectory) -> TLSConfiguration {
        TLSConfiguration(certificates: [
            .files(chain: folder.path("a.pem"), key: folder.path("a.key"))
        ])
    }

    private func shownName(_ context: TLSContext) throws -> String? {
        let pair = TLSPair(context)
        try pair.shakeHands()
        return pair.client.serverName
    }

    @Test("Files that do not match are logged, and the old certificate stays")
    func mismatch() throws {
        let folder = try ServerDirectory()
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try folder.write("a.pem", old.text)
        try folder.write("a.key", old.keyText)
        let context = try TLSContext(files(folder))
        let open = TLSPair(context)
        try open.shakeHands()
        let lines = LogLines()
        try folder.write("a.pem", new.text)
        #expect(!context.reload(lines.logger))
        #expect(try shownName(context) == "old.test")
        try folder.write("a.key", new.keyText)
        #expect(context.reload(lines.logger))
        #expect(try shownName(context) == "new.test")
        try folder.remove("a.key")
        #expect(throws: TLSError.self) { try context.reload() }
        #expect(try shownName(context) == "new.test")
        #expect(
            lines.all == [
                "error certificates stay as they are: \(folder.path("a.key")): the key does not "
                    + "belong to the certificate",
                "notice certificates were reloaded",
            ])
        // An open connection still works.
        #expect(open.send([1]) == .done(1))
        #expect(open.readByClient() == [1])
    }

    @Test("Changed files are loaded, and files that cannot be used are logged")
    func watching() async throws {
        let folder = try ServerDirectory()
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try folder.write("a.pem", old.text)
        try folder.write("a.key", old.keyText)
        let context = try TLSContext(files(folder))
        let lines = LogLines()
        let task = Task {
            await context.reloadOnChanges(every: .milliseconds(1), logger: lines.logger)
        }
        // The task may or may not have read the files already.
        try await waitUntil {
            try folder.write("a.pem", "words")
            return lines.all.contains { $0.hasPrefix("error") }
        }
        try folder.write("next.pem", new.text)
        try folder.write("next.key", new.keyText)
        try folder.rename("next.key", to: "a.key")
        try folder.rename("next.pem", to: "a.pem")
        try await waitUntil { try shownName(context) == "new.test" }
        task.cancel()
        await task.value
    }

    @Test("Files that change before the watch begins are loaded")
    func changeBeforeWatching() async throws {
        let folder = try ServerDirectory()
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try folder.write("a.pem", old.text)
        try folder.write("a.key", old.keyText)
        let context = try TLSContext(files(folder))
        try folder.write("next.pem", new.text)
        try folder.write("next.key", new.keyText)
        try folder.rename("next.key", to: "a.key")
        try folder.rename("next.pem", to: "a.pem")
        let lines = LogLines()
        let task = Task {
            await context.reloadOnChanges(every: .milliseconds(10), logger: lines.logger)
        }
        defer { task.cancel() }
        try await waitUntil { try shownName(context) == "new.test" }
        task.cancel()
        await task.value
        #expect(lines.all == ["notice certificates were reloaded"])
    }

    @Test("A server reloads the certificates of its endpoints")
    func serverReload() async throws {
        let folder = try ServerDirectory()
        let (old, new) = (try SecureServer.leaf("old.test"), try SecureServer.leaf("new.test"))
        try folder.write("a.pem", old.text)
        try folder.write("a.key", old.keyText)
        let context = try TLSContext(files(folder))
        var configuration = ServerConfiguration(endpoints: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.secure(by: context)
        let server = HTTPServer(configuration, handler: SecureServer.facts)
        try await server.start()
        try folder.write("a.pem", new.text)
        let fault = await #expect(throws: TLSError.self) {
            try await server.reloadCertificates()
        }
        #expect(fault == TLSError(.keyDoesNotMatch, folder.path("a.key")))
        try folder.write("a.key", new.keyText)
        try await server.reloadCertificates()
        #expect(try shownName(context) == "new.test")
        await server.shutdown(grace: .zero)
    }
}
