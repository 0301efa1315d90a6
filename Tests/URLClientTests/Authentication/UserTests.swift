import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 9110, 11.4: the user of a request", .timeLimit(.minutes(3)))
struct UserTests {
    /// A server that requests credentials, accepts all of them, and records the users.
    private final class Asker: Sendable {
        let peer: ScriptedPeer
        let users: Locked<[String]>

        init(_ challenge: String, _ answer: String = "") throws {
            let users = Locked([String]())
            self.users = users
            peer = try ScriptedPeer { connection in
                while let head = connection.head() {
                    let user = Self.user(head)
                    users.withLock { $0.append(user ?? "-") }
                    let status = user == nil ? "401 No" : "200 OK"
                    connection.send(
                        "HTTP/1.1 \(status)\r\nWWW-Authenticate: \(challenge)\r\n\(answer)"
                            + "Content-Length: 2\r\n\r\nok")
                }
            }
        }

        private static func user(_ head: String) -> String? {
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") }
            guard let line, let field = AuthorizationField(String(line.dropFirst(15))) else {
                return nil
            }
            if case .token68(let text) = field.content, let bytes = Base64.decode(Array(text.utf8))
            {
                return String(String(decoding: bytes, as: UTF8.self).prefix { $0 != ":" })
            }
            return field["username"]
        }

        func url(_ login: String, _ path: String = "/x") -> String {
            "http://\(login)\(login.isEmpty ? "" : "@")127.0.0.1:\(peer.port)\(path)"
        }

        var origin: Origin { Origin(scheme: "http", host: "127.0.0.1", port: peer.port) }
        var seen: [String] { users.withLock { $0 } }
    }

    private static let challenges = [
        "Basic realm=r", "Digest realm=r, nonce=n, qop=auth", "Digest realm=r, nonce=n",
    ]

    private func password(_ user: String) -> ClientCredential {
        .password(user: user, password: "p")
    }

    @Test("The credential in the URL is sent, regardless of earlier users", arguments: challenges)
    func ofURL(_ challenge: String) async throws {
        let asker = try Asker(challenge)
        let session = ClientSession(.ephemeral)
        for login in ["user:p", "bob:bob", "user:p", "bob:bob", ""] {
            _ = try await session.data(for: ClientRequest(.get, asker.url(login)))
        }
        #expect(asker.seen == ["-", "user", "-", "bob", "user", "bob", "-"])
    }

    @Test(
        "The credential of the request is sent; without one, the stored credential is sent",
        arguments: challenges)
    func ofRequest(_ challenge: String) async throws {
        let asker = try Asker(challenge)
        let configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials.set(password("ada"), for: asker.origin)
        let session = ClientSession(configuration)
        for user in [nil, "bob", nil, "bob"] {
            var request = ClientRequest(.get, asker.url(""))
            request.credential = user.map(password)
            _ = try await session.data(for: request)
        }
        #expect(asker.seen == ["-", "ada", "-", "bob", "ada", "bob"])
    }

    @Test("After a refusal of the URL's credential, the stored credential is not sent")
    func refused() async throws {
        let users = Locked([String?]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let line = head.split(separator: "\r\n").first { $0.hasPrefix("Authorization") }
                users.withLock { $0.append(line.map(String.init)) }
                connection.send(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=r\r\n"
                        + "Content-Length: 0\r\n\r\n")
            }
        }
        let configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials.set(
            password("ada"), for: Origin(scheme: "http", host: "127.0.0.1", port: peer.port))
        let session = ClientSession(configuration)
        let url = "http://bob:bob@127.0.0.1:\(peer.port)/"
        let (_, response) = try await session.data(for: ClientRequest(.get, url))
        #expect(response.status == .unauthorized)
        #expect(users.withLock { $0 } == [nil, "Authorization: Basic Ym9iOmJvYg=="])
    }

    @Test("An answer to a challenge replaces the URL's credential for that task only")
    func answered() async throws {
        let asker = try Asker("Basic realm=r")
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { challenge in
            challenge.proposed == .password(user: "bob", password: "p")
                ? .use(.password(user: "eve", password: "p"), remembers: false) : .useProposed
        }
        let session = ClientSession(configuration)
        for login in ["bob:p", "ada:p"] {
            let request = ClientRequest(.get, asker.url(login))
            #expect(try await session.data(for: request).1.status == .ok)
        }
        #expect(asker.seen == ["-", "eve", "-", "ada"])
    }

    @Test("A redirect to the same origin keeps the URL's user; another origin gets no user")
    func redirected() async throws {
        let other = try Asker("Basic realm=r")
        let heads = Locked([String]())
        let peer = try ScriptedPeer { connection in
            while let head = connection.head() {
                let isLoggedIn = head.contains("Basic Ym9iOmJvYg==")
                heads.withLock {
                    $0.append("\(head.split(separator: " ")[1]) \(isLoggedIn)")
                }
                let host = head.split(separator: "\r\n").first { $0.hasPrefix("Host: ") }?
                    .dropFirst(6)
                let start =
                    head.hasPrefix("GET /a") && isLoggedIn
                    ? "302 Found\r\nLocation: http://\(host ?? "")/b"
                    : head.hasPrefix("GET /b") && isLoggedIn
                        ? "302 Found\r\nLocation: \(other.url("", "/c"))"
                        : "401 No\r\nWWW-Authenticate: Basic realm=r"
                connection.send("HTTP/1.1 \(start)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let session = ClientSession(.ephemeral)
        let url = "http://bob:bob@127.0.0.1:\(peer.port)/a"
        let (_, response) = try await session.data(for: ClientRequest(.get, url))
        #expect(response.status == .unauthorized)
        #expect(heads.withLock { $0 } == ["/a false", "/a true", "/b true"])
        #expect(other.seen == ["-"])
    }

    @Test(
        "After a logout or a login of another user, the previous credential is not sent",
        arguments: challenges)
    func loggedOut(_ challenge: String) async throws {
        let asker = try Asker(challenge)
        let credentials = CredentialStorage()
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials = credentials
        credentials.set(password("ada"), for: asker.origin)
        let session = ClientSession(configuration)
        func send() async throws {
            _ = try await session.data(for: ClientRequest(.get, asker.url("")))
        }
        try await send()
        try await send()
        credentials.set(password("bob"), for: asker.origin)
        try await send()
        try await send()
        credentials.removeAll()
        try await send()
        #expect(asker.seen == ["-", "ada", "ada", "-", "bob", "bob", "-"])
    }

    @Test("removeAll() also removes an answer that was not stored")
    func answerForgotten() async throws {
        let asker = try Asker("Basic realm=r")
        let isLoggedIn = Locked(true)
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.challenge = { _ in
            isLoggedIn.withLock { $0 }
                ? .use(.password(user: "ada", password: "p"), remembers: false) : .reject
        }
        let session = ClientSession(configuration)
        for _ in 0..<2 { _ = try await session.data(for: ClientRequest(.get, asker.url(""))) }
        isLoggedIn.withLock { $0 = false }
        configuration.authentication.credentials.removeAll()
        _ = try await session.data(for: ClientRequest(.get, asker.url("")))
        #expect(asker.seen == ["-", "ada", "ada", "-"])
    }

    @Test("The cache keeps the responses of users separate")
    func cached() async throws {
        let asker = try Asker("Basic realm=r", "Cache-Control: private, max-age=100\r\n")
        let session = ClientSession(.ephemeral)
        for login in ["user:p", "user:p", "bob:bob", "user:p", "bob:bob", ""] {
            _ = try await session.data(for: ClientRequest(.get, asker.url(login)))
        }
        #expect(asker.seen == ["-", "user", "-", "bob", "-"])
    }

    private func nginx(_ users: ServerDirectory) async throws -> PeerServer {
        try users.write("users", "ada:{PLAIN}p\nbob:{PLAIN}p\n")
        try users.write("f", "content")
        return try await PeerServer.nginx(
            .init(
                at: "127.0.0.1",
                more: """
                    location /in/ {
                        auth_basic "tests";
                        auth_basic_user_file \(users.path("users"));
                        add_header X-User $remote_user always;
                        alias \(users.path)/;
                    }

                    """))
    }

    @Test("nginx: two users log in during one session, and none after removeAll()")
    func nginxUsers() async throws {
        let users = try ServerDirectory()
        let server = try await nginx(users)
        let credentials = CredentialStorage()
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials = credentials
        let session = ClientSession(configuration)
        func user(_ login: String) async throws -> String? {
            let url = server.url("/in/f", host: login + "127.0.0.1")
            let (_, response) = try await session.data(for: ClientRequest(.get, url))
            return response.status == .ok ? response.fields["x-user"] : "\(response.status.code)"
        }
        for name in ["ada", "bob", "ada", "bob"] { #expect(try await user("\(name):p@") == name) }
        #expect(try await user("bob:wrong@") == "401")
        let origin = Origin(scheme: "http", host: "127.0.0.1", port: server.port)
        for name in ["ada", "bob"] {
            credentials.set(password(name), for: origin)
            #expect(try await user("") == name)
        }
        credentials.removeAll()
        #expect(try await user("") == "401")
        withExtendedLifetime(users) {}
    }

    @Test("Apache: a wrong user is refused after a right one", arguments: ["basic", "digest"])
    func apache(_ scheme: String) async throws {
        let server = try await PeerServer.apache()
        try server.write(Array("content".utf8), to: "f.txt")
        let credentials = CredentialStorage()
        var configuration = ClientConfiguration.ephemeral
        configuration.authentication.credentials = credentials
        let session = ClientSession(configuration)
        func status(_ login: String) async throws -> UInt16 {
            let url = server.url("/\(scheme)/f.txt", host: login + "127.0.0.1")
            return try await session.data(for: ClientRequest(.get, url)).1.status.code
        }
        let (name, password) = PeerServer.user
        for _ in 0..<2 {
            #expect(try await status("\(name):\(password)@") == 200)
            #expect(try await status("bob:bob@") == 401)
            #expect(try await status("") == 401)
        }
        credentials.set(
            .password(user: name, password: password),
            for: Origin(scheme: "http", host: "127.0.0.1", port: server.port))
        #expect(try await status("") == 200)
        credentials.removeAll()
        #expect(try await status("") == 401)
    }
}
