import Foundation
import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("Settings of sessions and tasks", .timeLimit(.minutes(3)))
struct SettingTests {
    private static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 206, 207, 43, 73, 205, 43, 1, 0, 169, 48, 197, 254, 7,
        0, 0, 0,
    ]

    private func text(_ content: [UInt8]) -> String { String(decoding: content, as: UTF8.self) }

    @Test("Storages are shared by default, and private in an ephemeral session")
    func storages() {
        let (usual, own) = (ClientConfiguration.default, ClientConfiguration.ephemeral)
        #expect(usual.cookies === CookieStorage.shared && usual.cache === ClientCache.shared)
        #expect(own.cookies !== usual.cookies && own.cache !== usual.cache)
        let other = ClientConfiguration.ephemeral
        #expect(own.cookies !== other.cookies && own.cache !== other.cache)
        #expect(own.cookies != nil && own.cache != nil)
        #expect(ClientSession.shared.configuration.cookies === CookieStorage.shared)
    }

    @Test("Canonically equivalent values of a field are sent with their own bytes")
    func equivalentFields() async throws {
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = ClientSession(.ephemeral)
        let values = ["e\u{301}", "\u{E9}", "\u{E9}", "e\u{301}"]
        for value in values {
            let request = ClientRequest(.get, peer.url(), fields: ["X-Name": value])
            #expect(try await session.data(for: request).1.status == .ok)
        }
        let sent = heads.withLock { $0 }.map { head -> [UInt8] in
            let line = head.split(separator: "\r\n").first {
                $0.lowercased().hasPrefix("x-name: ")
            }
            return line.map { Array($0.utf8.dropFirst(8)) } ?? []
        }
        #expect(sent == values.map { Array($0.utf8) })
    }

    @Test("A priority that is set before a task starts decides its turn")
    func priority() async throws {
        let gate = Gate()
        let order = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let target = head.split(separator: " ")[1]
                order.withLock { $0.append(String(target)) }
                if target == "/first" { gate.wait() }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = ClientConfiguration.ephemeral
        configuration.connectionsPerOrigin = 1
        let session = ClientSession(configuration)
        let tasks = ["first", "a", "b"].map {
            session.dataTask(for: ClientRequest(.get, peer.url("/\($0)")))
        }
        tasks[2].priority = 0.9
        #expect(tasks.map(\.priority) == [0.5, 0.5, 0.9])
        for task in tasks { task.resume() }
        try await waitUntil { !order.withLock({ $0.isEmpty }) }
        gate.open()
        for task in tasks { try await task.finished() }
        #expect(order.withLock { $0 } == ["/first", "/b", "/a"])
    }

    @Test("reset removes cookies and stored responses; reset and flush close connections")
    func reset() async throws {
        let peer = try ScriptedPeer { connection in
            while connection.head() != nil {
                connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nSet-Cookie: a=\(connection.index)\r\n"
                        + "Cache-Control: max-age=1000\r\n\r\n\(connection.index)")
            }
        }
        let session = ClientSession(.ephemeral)
        let cookies = try #require(session.configuration.cookies)
        let request = ClientRequest(.get, peer.url())
        for (step, content) in [("none", "0"), ("none", "0"), ("flush", "0"), ("reset", "1")] {
            if step == "flush" { await session.flush() }
            if step == "reset" {
                #expect(cookies.cookies.map(\.value) == ["0"])
                await session.reset()
                #expect(cookies.cookies.isEmpty)
            }
            #expect(text(try await session.data(for: request).0) == content)
        }
        await session.flush()
        var fresh = request
        fresh.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(text(try await session.data(for: fresh).0) == "2")
        #expect(peer.connectionCount == 3)
    }

    @Test("A failed connection is tried again only if the retry policy says so")
    func retriesConnecting() async throws {
        let server = try await TestServer()
        for retries in [false, true] {
            let asked = Locked(0)
            var configuration = ClientConfiguration.ephemeral
            configuration.retries.retriesConnecting = retries
            configuration.retries.firstDelay = .milliseconds(1)
            configuration.endpoints = EndpointPolicy { _, _ in
                let isFirst = asked.withLock { count in
                    count += 1
                    return count == 1
                }
                return [ConnectTarget(host: "127.0.0.1", port: isFirst ? 9 : server.port)]
            }
            let session = ClientSession(configuration)
            let error = await failure {
                try await session.data(for: ClientRequest(.post, "http://name.test/echo"))
            }
            #expect(error?.kind == (retries ? nil : .cannotConnect))
            #expect(asked.withLock { $0 } == (retries ? 2 : 1))
        }
    }

    @Test("A challenge of Basic without TLS is not answered if that is forbidden; Digest is")
    func basicWithoutTLS() async throws {
        let asked = Locked(0)
        let bin = try await BinServer { configuration in
            configuration.authentication.allowsBasicWithoutTLS = false
            configuration.authentication.challenge = { _ in
                asked.withLock { $0 += 1 }
                return .use(.password(user: "u", password: "p"))
            }
        }
        #expect(try await bin.send(.get, "/basic-auth/u/p").status == 401)
        #expect(asked.withLock { $0 } == 0)
        #expect(try await bin.send(.get, "/digest-auth/auth/u/p").status == 200)
    }

    @Test("RFC 7616, 3.3: A stale nonce is replaced without asking for the password again")
    func staleNonce() async throws {
        let count = Locked(0)
        let nonces = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let nonce = head.split(separator: "nonce=\"").dropFirst().first?.prefix(2) ?? "-"
                nonces.withLock { $0.append(String(nonce)) }
                guard number == 1 || number == 3 else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    continue
                }
                let challenge = "realm=\"r\", qop=\"auth\", algorithm=SHA-256, "
                let rest = number == 1 ? "nonce=\"n1\"" : "nonce=\"n2\", stale=true"
                connection.send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest \(challenge)\(rest)\r\n"
                        + "Content-Length: 0\r\n\r\n")
            }
        }
        let asked = Locked(0)
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { _ in
            asked.withLock { $0 += 1 }
            return .use(.password(user: "u", password: "p"))
        }
        let session = ClientSession(configuration)
        for _ in 0..<2 {
            let (_, response) = try await session.data(for: ClientRequest(.get, peer.url()))
            #expect(response.status == .ok)
        }
        #expect(nonces.withLock { $0 } == ["-", "n1", "n1", "n2"])
        #expect(asked.withLock { $0 } == 1)
    }

    @Test("The page that a request is made for decides about SameSite")
    func sameSite() async throws {
        let bin = try await BinServer()
        _ = try await bin.send(.get, "/response-headers?Set-Cookie=a%3D1%3B%20SameSite%3DStrict")
        #expect(bin.cookies.cookies.count == 1)
        for (page, isSent) in [
            (nil, true), ("http://127.0.0.1/page", true), ("http://other.test/page", false),
            // Pages without a site.
            ("file:///page.html", false), ("about:blank", false),
        ] as [(String?, Bool)] {
            var request = bin.request(.get, "/cookies")
            request.mainDocumentURL = page.flatMap { URL(string: $0) }
            let (content, _) = try await bin.session.data(for: request)
            #expect(text(content).contains("\"a\"") == isSent, "\(page ?? "none")")
        }
    }

    @Test(
        "RFC 9110, 8.4.1: deflate is decoded with and without its wrapper, gzip with two members",
        arguments: [
            ("deflate", [120, 156, 75, 206, 207, 43, 73, 205, 43, 1, 0, 11, 203, 2, 252]),
            ("deflate", [75, 206, 207, 43, 73, 205, 43, 1, 0]),
            ("gzip", SettingTests.gzip + SettingTests.gzip),
        ] as [(String, [UInt8])])
    func codings(_ coding: String, _ content: [UInt8]) async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\n"
                    + "Content-Length: \(content.count)\r\n\r\n")
            connection.send(content)
        }
        let (decoded, _) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(.get, peer.url()))
        #expect(text(decoded) == (coding == "gzip" ? "contentcontent" : "content"))
    }

    @Test("Metrics of a TLS transaction have ordered times, version, cipher and both addresses")
    func secureMetrics() async throws {
        let certificates = try await TestCertificates()
        let server = try await PeerServer.nginx(
            .init(
                at: "127.0.0.1", identity: try await certificates.identity(for: "localhost")))
        var configuration = ClientConfiguration.ephemeral
        configuration.tls.authorities = .file(certificates.authority.certificate)
        let task = ClientSession(configuration).dataTask(
            for: ClientRequest(.get, "https://localhost:\(server.port)/who"))
        try await task.finished()
        let transaction = try #require(task.metrics?.transactions.first)
        let times = try [
            #require(transaction.nameLookupEnd), #require(transaction.connectEnd),
            #require(transaction.secureConnectionEnd), #require(transaction.requestStart),
            #require(transaction.responseStart), #require(transaction.responseEnd),
        ]
        #expect(times == times.sorted() && (times.first ?? .zero) > .zero)
        #expect(
            transaction.tlsVersion?.hasPrefix("TLS") == true
                && transaction.tlsCipher?.isEmpty == false)
        #expect(transaction.localAddress == "127.0.0.1" && transaction.localPort > 0)
        #expect(
            transaction.remoteAddress == "127.0.0.1" && transaction.remotePort == Int(server.port))
    }

    @Test("A failed download keeps its partial file, unless keepsPartialFile is false")
    func partialFile() async throws {
        let peer = try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\npart")
        }
        for setting in [false, true, nil] {
            let keeps = setting ?? true
            var configuration = ClientConfiguration.ephemeral
            configuration.downloadContinuations = 0
            let folder = try ServerDirectory()
            let task = ClientSession(configuration).downloadTask(
                for: ClientRequest(.get, peer.url()), to: folder.path("file"))
            #expect(task.keepsPartialFile)
            if let setting { task.keepsPartialFile = setting }
            let error = await failure { try await task.finished() }
            #expect(error?.kind == .truncated && (error?.resumeData != nil) == keeps)
            #expect(Files.names(folder.path).count == (keeps ? 1 : 0))
            let part = error?.resumeData.flatMap { Files.read($0.partialPath) }
            #expect(part == (keeps ? Array("part".utf8) : nil))
            error?.resumeData?.discard()
            #expect(Files.names(folder.path) == [])
        }
    }

    @Test("A resumed download without a response keeps its part only with keepsPartialFile")
    func unansweredResumption() async throws {
        let closed = try ScriptedPeer { _ in }
        let url = try #require(URL(string: closed.url()))
        for keeps in [false, true] {
            let folder = try ServerDirectory()
            try folder.write(".part", Array("part".utf8))
            var configuration = ClientConfiguration.ephemeral
            configuration.retries = .never
            let task = ClientSession(configuration).downloadTask(
                resuming: ResumeData(
                    url: url, partialPath: folder.path(".part"), offset: 4, validator: "\"1\""),
                to: folder.path("file"))
            task.keepsPartialFile = keeps
            let error = await failure { try await task.finished() }
            #expect(error != nil && (error?.resumeData != nil) == keeps)
            #expect(Files.names(folder.path) == (keeps ? [".part"] : []))
        }
    }

    @Test("Addresses of an override are tried in their order")
    func addresses() async throws {
        let server = try await TestServer()
        var configuration = ClientConfiguration.ephemeral
        configuration.resolver.overrides = [
            .init(
                host: "name.test", port: server.port,
                addresses: ["127.0.0.77", "127.0.0.78", "127.0.0.1"])
        ]
        let task = ClientSession(configuration).dataTask(
            for: ClientRequest(.get, server.url("/hello", host: "name.test")))
        try await task.finished()
        #expect(task.metrics?.transactions.first?.remoteAddress == "127.0.0.1")
    }
}
