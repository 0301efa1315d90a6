import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 8555, 8.3: ACME challenges over HTTP")
struct ACMEChallengeHandlerTests {
    private static let prefix = "/.well-known/acme-challenge/"
    private let directory: ServerDirectory

    init() throws {
        directory = try ServerDirectory()
        try directory.write("secret", "secret")
        try directory.makeDirectory("web")
        try directory.makeDirectory("web/.well-known")
        try directory.write("web/.well-known/other", "secret")
        try directory.write("web/index.html", "secret")
    }

    private func makeChallenge() throws {
        try directory.makeDirectory("web/.well-known/acme-challenge")
        try directory.write("web/.well-known/acme-challenge/Ab-9_", "Ab-9_.thumbprint")
        try directory.write("web/.well-known/acme-challenge/a.b", "secret")
    }

    private func answer(_ method: String, _ target: String) async throws -> ServerAnswer {
        let inner = SyncHandler { _ in Response(.accepted) }
        let handler = try ACMEChallengeHandler(inner, webroot: directory.path("web"))
        return try await exchange(handler, method, target)
    }

    @Test("A challenge is answered with its file, which may be added and removed at run time")
    func challenge() async throws {
        #expect(try await answer("GET", Self.prefix + "Ab-9_").status == 404)
        try makeChallenge()
        let found = try await answer("GET", Self.prefix + "Ab-9_")
        #expect(found.status == 200 && found.text == "Ab-9_.thumbprint")
        #expect(try await answer("HEAD", Self.prefix + "Ab-9_").status == 200)
        #expect(try await answer("GET", Self.prefix + "none").status == 404)
        #expect(try await answer("POST", Self.prefix + "Ab-9_").status == 405)
        try directory.remove("web/.well-known/acme-challenge/Ab-9_")
        #expect(try await answer("GET", Self.prefix + "Ab-9_").status == 404)
    }

    @Test(
        "All other targets, in any spelling, go to the inner handler",
        arguments: [
            "/", "/index.html", "/.well-known/other", prefix, String(prefix.dropLast()),
            prefix + "a.b", prefix + "../other", prefix + "..", prefix + "%41b-9_",
            prefix + "Ab-9_/", prefix + "../../../secret", "/x" + prefix + "Ab-9_",
            "/.Well-known/acme-challenge/Ab-9_", "/%2Ewell-known/acme-challenge/Ab-9_",
        ])
    func others(_ target: String) async throws {
        try makeChallenge()
        #expect(try await answer("GET", target).status == 202)
    }

    @Test("A rewritten target reaches challenges only")
    func rewritten() async throws {
        try makeChallenge()
        try directory.write("web/.secret", "secret")
        let handler = try ACMEChallengeHandler(
            SyncHandler { _ in Response(.accepted) }, webroot: directory.path("web"))
        let secret = Rewriting(target: "/.secret", inner: handler)
        #expect(try await exchange(secret, "GET", Self.prefix + "Ab-9_").status == 202)
        let challenge = Rewriting(target: Self.prefix + "Ab-9_", inner: handler)
        #expect(try await exchange(challenge, "GET", "/token").text == "Ab-9_.thumbprint")
    }

    private struct Rewriting: Handler {
        let target: String
        let inner: ACMEChallengeHandler

        func answer(_ request: Request) throws -> Answer {
            var request = request
            request.target = try #require(RequestTarget(target))
            return try inner.answer(request)
        }
    }

    @Test("A link out of the folder is not followed, and a missing folder is an error on init")
    func folders() async throws {
        try makeChallenge()
        try directory.link("web/.well-known/acme-challenge/link", to: directory.path("secret"))
        #expect(try await answer("GET", Self.prefix + "link").status == 404)
        #expect(throws: SystemError.self) {
            try ACMEChallengeHandler(
                SyncHandler { _ in Response(.ok) }, webroot: directory.path("none"))
        }
    }
}
