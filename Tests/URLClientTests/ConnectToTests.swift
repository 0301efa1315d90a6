import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("Connect to host", .timeLimit(.minutes(2)))
struct ConnectToTests {
    private func text(_ content: [UInt8]) -> String { String(decoding: content, as: UTF8.self) }

    @Test("D1: A request connects to another host or port, and keeps its Host field")
    func hostAndPort() async throws {
        let server = try await TestServer()
        let session = ClientSession()
        for (url, target) in [
            ("http://name.test/echo", ConnectTarget(host: "127.0.0.1", port: server.port)),
            ("http://127.0.0.1:9/echo", ConnectTarget(port: server.port)),
            ("http://name.test:\(server.port)/echo", ConnectTarget(host: "127.0.0.1")),
            ("http://name.test:9/echo", ConnectTarget(host: "localhost", port: server.port)),
        ] {
            var request = ClientRequest(.get, url)
            request.connectTo = target
            let (_, response) = try await session.data(for: request)
            #expect(response.status == .ok)
            #expect(response.url.absoluteString == url)
        }
        #expect(
            server.seen("/echo").map { $0.fields[.host] }
                == ["name.test", "127.0.0.1:9", "name.test:\(server.port)", "name.test:9"])
    }

    @Test("Stored responses belong to the host name, not to the address of the connection")
    func cache() async throws {
        let count = Locked(0)
        let server = try await TestServer { _, router in
            router.on(.get, "/kept") { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Response(
                    .ok, fields: [.cacheControl: "max-age=1000"], body: .text("\(number)"))
            }
        }
        let session = ClientSession(.ephemeral)
        for (name, content, isStored) in [
            ("a.test", "1", false), ("a.test", "1", true), ("b.test", "2", false),
            ("a.test", "1", true),
        ] {
            var request = ClientRequest(.get, "http://\(name)/kept")
            // The address changes, the name does not.
            let host = isStored ? "127.0.0.9" : "127.0.0.1"
            request.connectTo = ConnectTarget(host: host, port: isStored ? 9 : server.port)
            let (answer, response) = try await session.data(for: request)
            #expect(text(answer) == content && response.isFromCache == isStored)
        }
    }

    @Test("D2: IPv6 addresses work with and without brackets", arguments: ["::1", "[::1]"])
    func ipv6(_ host: String) async throws {
        let server = try await TestServer(host: "::1")
        var request = ClientRequest(.get, "http://name.test/hello")
        request.connectTo = ConnectTarget(host: host, port: server.port)
        let (content, _) = try await ClientSession().data(for: request)
        #expect(text(content) == "hello")
        let (own, _) = try await ClientSession().data(
            for: ClientRequest(.get, "http://[::1]:\(server.port)/hello"))
        #expect(text(own) == "hello")
    }

    @Test("Requests for one host and two addresses use two connections")
    func twoAddresses() async throws {
        let answer: @Sendable (String) -> @Sendable (PeerConnection) -> Void = { name in
            { connection in
                while connection.head() != nil {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(name)")
                }
            }
        }
        let peers = [try ScriptedPeer(answer("a")), try ScriptedPeer(answer("b"))]
        let session = ClientSession()
        for index in [0, 1, 0, 1, 1, 0] {
            var request = ClientRequest(.get, "http://name.test/")
            request.connectTo = ConnectTarget(host: "127.0.0.1", port: peers[index].port)
            let (content, _) = try await session.data(for: request)
            #expect(text(content) == ["a", "b"][index])
        }
        #expect(peers.map(\.connectionCount) == [1, 1])
    }

    @Test("A request can connect to a Unix socket")
    func unixSocket() async throws {
        let folder = try ServerDirectory()
        let server = try await TestServer { configuration, _ in
            configuration.endpoints.append(.unix(path: folder.path("socket")))
        }
        var request = ClientRequest(.get, "http://name.test/hello")
        request.connectTo = .unixSocket(folder.path("socket"))
        let (content, _) = try await ClientSession().data(for: request)
        #expect(text(content) == "hello")
        withExtendedLifetime(server) {}
    }

    #if os(Linux)
        @Test("A request can connect to a socket in Linux's abstract namespace")
        func abstractSocket() async throws {
            let name = "httpkit-test-\(UInt64.random(in: 0...UInt64.max))"
            let script = """
                import socket, sys
                listener = socket.socket(socket.AF_UNIX)
                listener.bind("\\0" + sys.argv[1])
                listener.listen()
                print("up", flush=True)
                peer = listener.accept()[0]
                head = b""
                while b"\\r\\n\\r\\n" not in head: head += peer.recv(4096)
                host = [line for line in head.split(b"\\r\\n") if line.startswith(b"Host: ")][0]
                length = str(len(host)).encode()
                peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: " + length + b"\\r\\n\\r\\n" + host)
                peer.recv(1)
                """
            let peer = try RunningProgram("python3", ["-c", script, name])
            #expect(await peer.wait { $0.text.contains("up") }, "\(peer.complaints)")
            var request = ClientRequest(.get, "http://name.test:81/")
            request.connectTo = .abstractSocket(name)
            #expect("\(ConnectTarget.abstractSocket(name))" == "unix:@\(name)")
            let (content, _) = try await ClientSession().data(for: request)
            #expect(text(content) == "Host: name.test:81")
        }
    #endif

    @Test("A policy is called for each attempt, and its endpoints are tried in order")
    func failover() async throws {
        let server = try await TestServer()
        let dead = PeerServer.deadPort
        let asked = Locked([String]())
        var configuration = ClientConfiguration()
        configuration.endpoints = EndpointPolicy(attempts: 2) { origin, attempt in
            asked.withLock { $0.append("\(origin) \(attempt)") }
            guard attempt > 0 else {
                return [ConnectTarget(host: "127.0.0.1", port: dead), ConnectTarget(port: dead)]
            }
            return [
                ConnectTarget(host: "127.0.0.1", port: dead),
                ConnectTarget(host: "127.0.0.1", port: server.port),
            ]
        }
        let session = ClientSession(configuration)
        let task = session.uploadTask(
            for: ClientRequest(.post, "http://127.0.0.1/echo"),
            from: .stream(
                AsyncStream {
                    $0.yield([1, 2]); $0.finish()
                }))
        let response = try await task.finished()
        #expect(response.status == .ok)
        #expect(server.seen("/echo").map(\.content) == [[1, 2]])
        #expect(
            asked.withLock { $0 } == ["http://127.0.0.1 0", "http://127.0.0.1 1"])
        let transactions = try #require(task.metrics?.transactions)
        #expect(transactions.count == 4)
        #expect(
            transactions.last?.connectTarget == ConnectTarget(host: "127.0.0.1", port: server.port))
        #expect(transactions.last?.remotePort == Int(server.port))
    }

    @Test("A policy's error fails the request; a resolver override sets addresses")
    func policies() async throws {
        struct Fault: Error {}
        var configuration = ClientConfiguration()
        configuration.endpoints = EndpointPolicy { _, _ in throw Fault() }
        let session = ClientSession(configuration)
        let error = await failure {
            try await session.data(for: ClientRequest(.get, "http://name.test/"))
        }
        #expect(error?.kind == .hookFailed)
        #expect(error?.underlying is Fault)

        let server = try await TestServer()
        configuration.endpoints = nil
        configuration.resolver.overrides = [
            .init(host: "name.test", port: server.port, addresses: ["127.0.0.1"])
        ]
        let (content, _) = try await ClientSession(configuration).data(
            for: ClientRequest(.get, "http://name.test:\(server.port)/hello"))
        #expect(text(content) == "hello")
    }

    @Test("TLS: SNI, Host and the certificate check use the name, not the chosen address")
    func tls() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.2", identity: try await certificates.identity(for: "a.test"),
                speaksHTTP2: true),
            .init(at: "[::1]", identity: try await certificates.identity(for: "b.test")))
        var configuration = ClientConfiguration()
        configuration.tls.authorities = .file(certificates.authority.certificate)
        let session = ClientSession(configuration)
        for (name, host) in [("a.test", "127.0.0.2"), ("b.test", "::1"), ("a.test", "127.0.0.2")] {
            var request = ClientRequest(.get, "https://\(name)/who")
            request.connectTo = ConnectTarget(host: host, port: server.port)
            let (content, response) = try await session.data(for: request)
            #expect(text(content).contains("sni=\(name)\nhost=\(name)\n"))
            #expect(response.version == (name == "a.test" ? .http2 : .http11))
        }
        var wrong = ClientRequest(.get, "https://a.test/who")
        wrong.connectTo = ConnectTarget(host: "::1", port: server.port)
        let mismatch = wrong
        let error = await failure { try await session.data(for: mismatch) }
        #expect(error?.kind == .certificateNameMismatch, "\(error?.description ?? "-")")
        #expect(error?.urlErrorCode == -1202)
    }

    @Test("A redirect to https of the same host keeps the connect target and custom fields")
    func upgraded() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "a.test"),
                more: "location = /key { return 200 $http_x_api_key; }\n"))
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 301 Moved\r\nLocation: https://a.test:\(server.port)/key\r\n"
                        + "Content-Length: 0\r\n\r\n")
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.tls.authorities = .file(certificates.authority.certificate)
        var request = ClientRequest(
            .get, peer.url(host: "a.test"), fields: ["X-API-Key": "k", .authorization: "Basic x"])
        request.connectTo = ConnectTarget(host: "127.0.0.1")
        let (content, response) = try await ClientSession(configuration).data(for: request)
        #expect(response.status == .ok && text(content) == "k")
    }

    @Test("S: Untrusted, expired and unpinned certificates are refused; a trust policy decides")
    func certificates() async throws {
        let certificates = try await TestCertificates()
        let identity = try await certificates.identity(for: "127.0.0.1")
        let expired = try await certificates.identity(for: "127.0.0.2", days: -1)
        let server = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: identity), .init(at: "127.0.0.2", identity: expired))
        func refusal(
            _ host: String = "127.0.0.1", _ change: (inout ClientConfiguration) -> Void
        ) async -> Refusal? {
            var configuration = ClientConfiguration()
            configuration.tls.authorities = .file(certificates.authority.certificate)
            change(&configuration)
            let session = ClientSession(configuration)
            let error = await failure {
                try await session.data(
                    for: ClientRequest(.get, "https://\(host):\(server.port)/who"))
            }
            return error.map { Refusal($0.kind, $0.urlErrorCode) }
        }
        let untrusted = Refusal(.certificateUntrusted, -1202)
        #expect(await refusal { _ in } == nil)
        #expect(await refusal { $0.tls.authorities = nil } == untrusted)
        #expect(await refusal("127.0.0.2") { _ in } == Refusal(.certificateExpired, -1201))
        #expect(
            await refusal {
                $0.tls.pinnedKeys = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            } == Refusal(.pinMismatch, -1202))
        let judged = Locked([Bool]())
        #expect(
            await refusal {
                $0.tls.authorities = nil
                $0.trust = TrustPolicy { evaluation in
                    judged.withLock { $0.append(evaluation.isTrusted) }
                    return evaluation.certificates.first?.isEmpty == false
                }
            } == nil)
        #expect(judged.withLock { $0 } == [false])
        #expect(await refusal { $0.trust = TrustPolicy { _ in false } } == untrusted)
        // Without ssl_protocols this nginx speaks at most TLS 1.2.
        #expect(
            await refusal { $0.tls.minimumVersion = .tls13 }
                == Refusal(.secureConnectionFailed, -1200))
    }

    /// Why a connection failed: the kind of error, and its code as an `NSURLError`.
    private struct Refusal: Equatable {
        let kind: ClientError.Kind
        let code: Int

        init(_ kind: ClientError.Kind, _ code: Int) { (self.kind, self.code) = (kind, code) }
    }

    @Test("S14: The server's key must be one of the pinned keys, which can include a reserve key")
    func pins() async throws {
        let certificates = try await TestCertificates()
        // The client knows the server's current key and its future one.
        let identity = try await certificates.identity(for: "127.0.0.1")
        let reserve = try await certificates.identity(for: "127.0.0.2")
        let other = try await certificates.identity(for: "127.0.0.3")
        let server = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: identity), .init(at: "127.0.0.2", identity: reserve))
        let pins = [
            try await TestCertificates.pin(of: identity),
            try await TestCertificates.pin(of: reserve),
        ]
        let wrong = try await TestCertificates.pin(of: other)
        #expect(Set(pins + [wrong]).count == 3)
        func kind(
            _ host: String, _ pins: [String], _ change: (inout TLSOptions) -> Void = { _ in }
        ) async -> ClientError.Kind? {
            var configuration = ClientConfiguration.ephemeral
            configuration.tls.authorities = .file(certificates.authority.certificate)
            configuration.tls.pinnedKeys = pins
            change(&configuration.tls)
            let session = ClientSession(configuration)
            return await failure {
                try await session.data(
                    for: ClientRequest(.get, "https://\(host):\(server.port)/who"))
            }?.kind
        }
        #expect(await kind("127.0.0.1", [pins[0]]) == nil)
        for host in ["127.0.0.1", "127.0.0.2"] {
            #expect(await kind(host, pins) == nil)
            #expect(await kind(host, pins.reversed()) == nil)
            #expect(await kind(host, [wrong]) == .pinMismatch)
        }
        #expect(await kind("127.0.0.2", [pins[0]]) == .pinMismatch)
        // A pin does not replace the check of the certificate, nor the other way round.
        #expect(await kind("127.0.0.1", pins) { $0.authorities = nil } == .certificateUntrusted)
        #expect(await kind("127.0.0.1", pins) { $0.verifiesServer = false } == nil)
        #expect(
            await kind("127.0.0.1", [wrong]) { $0.verifiesServer = false } == .pinMismatch)
    }

    @Test("S23: Authorities are read from a file or from bytes; unreadable ones are an error")
    func authorities() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: try await certificates.identity(for: "127.0.0.1")))
        let path = certificates.authority.certificate
        let sources: [(TLSOptions.Source, ClientError.Kind?)] = [
            (.file(path), nil), (.pem(try #require(Files.read(path))), nil),
            (.file("/nonexistent"), .badAuthorities), (.pem(Array("none".utf8)), .badAuthorities),
        ]
        for (source, kind) in sources {
            var request = ClientRequest(.get, server.url("/who", scheme: "https"))
            request.tls = TLSOptions(authorities: source)
            let error = await failure { [request] in try await ClientSession().data(for: request) }
            #expect(error?.kind == kind, "\(error?.description ?? "-")")
        }
    }

    @Test("S: HTTP/2 by ALPN shares a connection; prior knowledge works with and without TLS")
    func http2() async throws {
        let certificates = try await TestCertificates()
        let identity = try await certificates.identity(for: "127.0.0.1")
        let server = try await PeerServer.nginx(
            .init(at: "127.0.0.1", identity: identity, speaksHTTP2: true),
            .init(at: "127.0.0.2", speaksHTTP2: true))
        var configuration = ClientConfiguration()
        configuration.tls.authorities = .file(certificates.authority.certificate)
        let session = ClientSession(configuration)
        let tasks = (0..<40).map { _ in
            session.dataTask(for: ClientRequest(.get, "https://127.0.0.1:\(server.port)/who"))
        }
        for task in tasks { task.resume() }
        var connections: Set<Int> = []
        for task in tasks {
            #expect(try await task.finished().version == .http2)
            let transaction = try #require(task.metrics?.transactions.first)
            connections.insert(transaction.localPort)
            #expect(transaction.tlsVersion?.hasPrefix("TLSv1.") == true)
        }
        #expect(connections.count == 1)
        var request = ClientRequest(.get, "http://127.0.0.2:\(server.port)/who")
        request.protocols = .http2PriorKnowledge
        for _ in 0..<3 {
            let (content, response) = try await session.data(for: request)
            #expect(response.version == .http2)
            #expect(text(content).contains("version=HTTP/2.0"))
        }
        // Several requests at once, with and without TLS.
        let secure = "https://127.0.0.1:\(server.port)/who"
        for url in [secure, request.url.absoluteString] {
            try await withThrowingTaskGroup(of: ClientResponse.Version.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        var request = ClientRequest(.get, url)
                        request.protocols = .http2PriorKnowledge
                        return try await session.data(for: request).1.version
                    }
                }
                for try await version in group { #expect(version == .http2) }
            }
        }
    }
}
