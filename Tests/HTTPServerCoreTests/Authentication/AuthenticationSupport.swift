import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// A protection space with a few users; tests set its clock and count its key derivations.
struct ProtectedSpace {
    static let realm = "Notes \"n\""
    static let ann = (name: "ann", password: "correct: horse")
    static let jason = (name: "Jäsøn Doe", password: "Secret, ör not?")

    let accounts = MemoryAccountStore(realm: realm, rounds: 3)
    let authenticator: Authenticator
    /// How many derivations were asked for.
    let derivations = Locked(0)
    let time = Locked<UInt64>(5_000_000_000_000)

    init(_ change: (inout Authenticator.Options) -> Void = { _ in }) throws {
        for user in [Self.ann, Self.jason] { try accounts.add(user.name, password: user.password) }
        var options = Authenticator.Options()
        change(&options)
        let (derivations, time) = (derivations, time)
        authenticator = Authenticator(
            accounts: accounts, options: options, clock: { time.withLock { $0 } },
            matches: { hash, password in
                derivations.withLock { $0 += 1 }
                return hash.matches(password)
            })
    }

    func advance(seconds: UInt64) {
        time.withLock { $0 += seconds * 1_000_000_000 }
    }

    /// Answers with the user's name.
    static let whoami = SyncHandler { request in
        .text(request.identity?.name ?? "nobody")
    }

    func client(_ handler: some Handler = whoami) -> ProtectedClient {
        ProtectedClient(AuthenticationHandler(handler, by: authenticator))
    }
}

/// A client that sends its requests one at a time.
final class ProtectedClient: Sendable {
    let connection: MemoryConnection
    private let heads = Locked<Set<Int>>([])

    init(
        _ handler: any Handler, configuration: ServerConfiguration = .test,
        address: PeerAddress = PeerAddress()
    ) {
        connection = MemoryConnection(handler, configuration: configuration, address: address)
    }

    /// - Parameters:
    ///   - authorization: the value of each Authorization field.
    ///   - fields: complete field lines, each with its line end.
    func ask(
        _ method: String = "GET", _ target: String = "/", _ authorization: String...,
        fields: String = "", content: String = ""
    ) async throws -> ServerAnswer {
        let heads = heads
        let before = answers(connection.record).count
        if method == "HEAD" { heads.withLock { _ = $0.insert(before) } }
        let lines = authorization.map { "Authorization: \($0)\r\n" }.joined()
        connection.send(
            "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\(fields)\r\n\(content)")
        let record = try await connection.wait(for: "answer \(before + 1)") {
            ServerAnswer.all($0.output, heads: heads.withLock { $0 }).count > before
        }
        return try #require(answers(record).last)
    }

    private func answers(_ record: MemoryRecord) -> [ServerAnswer] {
        ServerAnswer.all(record.output, heads: heads.withLock { $0 })
    }
}

extension ServerAnswer {
    /// The parameters of the challenges that begin with a text.
    func challenges(_ start: String) -> [AuthorizationField] {
        fields.filter { $0.name == "WWW-Authenticate" && $0.value.hasPrefix(start) }
            .compactMap { AuthorizationField($0.value) }
    }

    var isStale: Bool { challenges("Digest").first?["stale"] == "true" }
}

func basic(_ name: String, _ password: String) -> String {
    "Basic " + Base64.text(of: Array("\(name):\(password)".utf8))
}

/// The Digest credentials of a client; each part can be made wrong.
struct DigestSample {
    var name = ProtectedSpace.ann.name
    var password = ProtectedSpace.ann.password
    var realm = ProtectedSpace.realm
    var method = "GET"
    var uri = "/"
    var nonce: String
    var opaque: String?
    var algorithm = DigestAlgorithm.sha256
    var count: UInt32 = 1
    var cnonce = "0a4f\"113b"
    /// The parameters that name the user; `nil` for username.
    var user: String?
    /// Parameters to replace before sending, or to leave out where the value is `nil`.
    var changes: [String: String?] = [:]

    init(_ challenge: AuthorizationField) {
        nonce = challenge["nonce"] ?? ""
        opaque = challenge["opaque"]
        algorithm = DigestAlgorithm(name: challenge["algorithm"] ?? "") ?? .md5
    }

    private var countText: String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private func proof(_ a2: String) -> String {
        let a1 = algorithm.hex("\(name):\(realm):\(password)")
        return algorithm.hex("\(a1):\(nonce):\(countText):\(cnonce):auth:\(algorithm.hex(a2))")
    }

    var serverProof: String { proof(":\(uri)") }

    func changed(_ change: (inout DigestSample) -> Void) -> String {
        var copy = self
        change(&copy)
        return copy.value
    }

    /// The value of Authorization.
    var value: String {
        func quoted(_ text: String) -> String { FieldValues.quoted(text) ?? "" }
        var parts: [(String, String)] = [
            ("realm", quoted(realm)), ("nonce", quoted(nonce)), ("uri", quoted(uri)),
            ("response", quoted(proof("\(method):\(uri)"))), ("algorithm", algorithm.rawValue),
            ("cnonce", quoted(cnonce)), ("nc", countText), ("qop", "auth"),
        ]
        if let opaque { parts.append(("opaque", quoted(opaque))) }
        if user == nil { parts.append(("username", quoted(name))) }
        for (name, value) in changes {
            parts.removeAll { $0.0 == name }
            if let value { parts.append((name, value)) }
        }
        let all = parts.map { "\($0.0)=\($0.1)" } + (user.map { [$0] } ?? [])
        return "Digest " + all.joined(separator: ", ")
    }
}
