import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 7616: Digest authentication")
struct DigestAuthenticationTests {
    private func space(
        _ change: (inout Authenticator.Options) -> Void = { _ in }
    ) throws -> ProtectedSpace {
        try ProtectedSpace { options in
            options.schemes = [.digest]
            change(&options)
        }
    }

    private func sample(_ client: ProtectedClient, _ index: Int = 0) async throws -> DigestSample {
        let challenges = try await client.ask().challenges("Digest")
        return DigestSample(try #require(challenges.dropFirst(index).first))
    }

    @Test("3.3: The challenges offer SHA-256, then MD5, with all required parameters")
    func challenge() async throws {
        let answer = try await space().client().ask()
        #expect(answer.status == 401)
        let challenges = answer.challenges("Digest")
        #expect(challenges.map { $0["algorithm"] } == ["SHA-256", "MD5"])
        for challenge in challenges {
            #expect(challenge["realm"] == ProtectedSpace.realm)
            #expect(challenge["qop"] == "auth" && challenge["charset"] == "UTF-8")
            #expect(challenge["nonce"]?.utf8.count == 64)
            #expect(challenge["opaque"]?.utf8.count == 32)
            #expect(challenge["stale"] == nil && challenge["userhash"] == nil)
        }
    }

    @Test("Each challenge has another nonce, and unused nonces are not stored")
    func nonces() async throws {
        let space = try space()
        let client = space.client()
        var nonces: Set<String> = []
        for _ in 0..<20 { nonces.insert(try await sample(client).nonce) }
        #expect(nonces.count == 20)
        #expect(space.authenticator.rememberedCounts.nonces == 0)
    }

    @Test("3.4: The right hash is accepted, request after request", arguments: [0, 1])
    func granted(_ index: Int) async throws {
        let client = try space().client()
        var sample = try await sample(client, index)
        for count: UInt32 in 1...5 {
            sample.count = count
            let answer = try await client.ask("GET", "/", sample.value)
            #expect(answer.status == 200 && answer.text == "ann")
        }
    }

    @Test("3.5: Authentication-Info proves that the server knows the password, too")
    func serverProof() async throws {
        let client = try space().client()
        let sample = try await sample(client)
        let answer = try await client.ask("GET", "/", sample.value)
        let info = try #require(
            AuthorizationField("X " + (answer["Authentication-Info"] ?? "")))
        #expect(info["rspauth"] == sample.serverProof && info["cnonce"] == sample.cnonce)
        #expect(info["qop"] == "auth" && info["nc"] == "00000001")
    }

    @Test("The hash is valid for the method of the request only: HEAD is not GET")
    func method() async throws {
        let client = try space().client()
        var sample = try await sample(client)
        sample.method = "HEAD"
        #expect(try await client.ask("HEAD", "/", sample.value).status == 200)
        sample.count = 2
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
        sample.method = "GET"
        #expect(try await client.ask("HEAD", "/", sample.value).status == 401)
        #expect(try await client.ask("POST", "/", sample.value).status == 401)
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
        sample.method = "PROPFIND"
        sample.count = 3
        #expect(try await client.ask("PROPFIND", "/", sample.value).status == 200)
    }

    @Test("3.4.6: The hash is valid for one target; a right hash for another target is 400")
    func target() async throws {
        let client = try space().client()
        var sample = try await sample(client)
        sample.uri = "/a?b=c%20d"
        #expect(try await client.ask("GET", "/a?b=c%20d", sample.value).status == 200)
        sample.count = 2
        for target in ["/", "/a", "/a?b=c+d", "/A?b=c%20d", "/./a?b=c%20d"] {
            #expect(try await client.ask("GET", target, sample.value).status == 400)
        }
        // A proxy may have made the target absolute after the client hashed it.
        #expect(try await client.ask("GET", "http://a/a?b=c%20d", sample.value).status == 200)
        sample.uri = "http://a/a"
        sample.count = 3
        #expect(try await client.ask("GET", "http://a/a", sample.value).status == 200)
        sample.count = 4
        #expect(try await client.ask("GET", "/a", sample.value).status == 400)
    }

    @Test("3.4: The target of the request line counts, also after a handler rewrites it")
    func rewritten() async throws {
        let space = try space()
        let inner = AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator)
        let client = ProtectedClient(
            InterceptingHandler(inner) { request in
                request.rewritePath("/new")
                return nil
            })
        var sample = try await sample(client)
        sample.uri = "/old"
        #expect(try await client.ask("GET", "/old", sample.value).status == 200)
        sample.uri = "/new"
        sample.count = 2
        #expect(try await client.ask("GET", "/old", sample.value).status == 400)
    }

    @Test("A count is accepted once, so an overheard request cannot be replayed")
    func replay() async throws {
        let client = try space().client()
        var sample = try await sample(client)
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
        let again = try await client.ask("GET", "/", sample.value)
        #expect(again.status == 401 && again.isStale)
        sample.count = 9
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
        for count: UInt32 in [8, 3, 2] {
            sample.count = count
            #expect(try await client.ask("GET", "/", sample.value).status == 200)
            #expect(try await client.ask("GET", "/", sample.value).status == 401)
        }
        sample.count = 0
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
    }

    @Test("One request uses one count, also with nested authentication or a later answer")
    func onceEach() async throws {
        struct Later: Handler {
            func answer(_ request: Request) -> Answer {
                .later { .text(request.identity?.name ?? "nobody") }
            }
        }
        let space = try space()
        let inner = AuthenticationHandler(Later(), by: space.authenticator)
        for handler in [space.client(Later()), space.client(inner)] {
            let sample = try await sample(handler)
            let answer = try await handler.ask("GET", "/", sample.value)
            #expect(answer.status == 200 && answer.text == "ann")
            #expect(answer.fields.count { $0.name == "Authentication-Info" } == 1)
            #expect(try await handler.ask("GET", "/", sample.value).status == 401)
        }
    }

    @Test("Names of algorithms are read in any case; long ones take no quadratic time")
    func algorithmNames() async throws {
        #expect(DigestAlgorithm(name: "Sha-256") == .sha256)
        #expect(DigestAlgorithm(name: "mD5") == .md5)
        #expect(DigestAlgorithm(name: "MD5-sess") == nil)
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let isQuick = try await takesLess(than: .seconds(5)) {
            #expect(DigestAlgorithm(name: marks) == nil)
        }
        #expect(isQuick)
    }

    @Test("All wrong credentials get the same 401, and missing parameters get 400")
    func refused() async throws {
        let client = try space().client()
        let sample = try await sample(client)
        let forged = String(sample.nonce.reversed())
        let wrong: [String] = [
            sample.changed { $0.password = "wrong" }, sample.changed { $0.name = "nobody" },
            sample.changed { $0.name = "Ann" }, sample.changed { $0.realm = "Notes" },
            sample.changed { $0.changes = ["realm": "\"Notes\""] },
            sample.changed { $0.changes = ["username": "\"bob\""] },
            sample.changed { $0.changes = ["nonce": "\"\(forged)\""] },
            sample.changed { $0.changes = ["nonce": "\"\""] },
            sample.changed { $0.changes = ["nc": "00000002"] },
            sample.changed { $0.changes = ["cnonce": "\"x\""] },
            sample.changed { $0.changes = ["uri": "\"/b\""] },
            sample.changed {
                $0.changes = ["response": "\"\(String(repeating: "0", count: 64))\""]
            },
            sample.changed { $0.changes = ["qop": nil] },
            sample.changed { $0.changes = ["qop": "auth-int"] },
            sample.changed { $0.changes = ["algorithm": "SHA-512-256"] },
            sample.changed { $0.changes = ["algorithm": "SHA-256-sess"] },
        ]
        for value in wrong {
            let answer = try await client.ask("GET", "/", value)
            #expect(answer.status == 401 && !answer.isStale, "\(value)")
            #expect(answer.challenges("Digest").count == 2)
        }
        for part in ["username", "realm", "nonce", "uri", "response", "nc", "cnonce"] {
            let value = sample.changed { $0.changes = [part: nil] }
            #expect(try await client.ask("GET", "/", value).status == 400)
        }
        #expect(try await client.ask("GET", "/", basic("ann", "correct: horse")).status == 401)
        // None of these requests has used up the count.
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
    }

    @Test("An unknown user cannot log in with an absent password, as in the predecessor")
    func unknownUser() async throws {
        let client = try space().client()
        let sample = try await sample(client)
        for password in ["(null)", "", "nil"] {
            let value = sample.changed {
                $0.name = "nobody"
                $0.password = password
            }
            #expect(try await client.ask("GET", "/", value).status == 401)
        }
    }

    @Test("3.3: An expired nonce with the right password gets a stale challenge, not a new login")
    func stale() async throws {
        let space = try space { $0.nonceLifetime = .seconds(60) }
        let client = space.client()
        var sample = try await sample(client)
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
        space.advance(seconds: 59)
        sample.count = 2
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
        space.advance(seconds: 1)
        sample.count = 3
        let late = try await client.ask("GET", "/", sample.value)
        #expect(late.status == 401 && late.isStale)
        // The replacement nonce is stored, so that guesses from this network do not delay its user.
        #expect(space.authenticator.rememberedCounts.nonces == 1)
        let fresh = DigestSample(try #require(late.challenges("Digest").first))
        #expect(fresh.nonce != sample.nonce)
        #expect(try await client.ask("GET", "/", fresh.value).status == 200)
        let wrong = try await client.ask("GET", "/", sample.changed { $0.password = "x" })
        #expect(wrong.status == 401 && !wrong.isStale)
    }

    @Test("The nonce and the opaque of another process are stale")
    func otherProcess() async throws {
        let client = try space().client()
        let other = try space().client()
        let sample = try await sample(client)
        let foreign = try await other.ask("GET", "/", sample.value)
        #expect(foreign.status == 401 && foreign.isStale)
        let opaque = try await client.ask("GET", "/", sample.changed { $0.opaque = "x" })
        #expect(opaque.status == 401 && opaque.isStale)
        #expect(
            try await client.ask("GET", "/", sample.changed { $0.opaque = nil }).status == 200)
    }

    @Test("3.4.4: A hash can replace the user name", arguments: [0, 1])
    func userhash(_ index: Int) async throws {
        let client = try space { $0.hashesNames = true }.client()
        let first = try await client.ask().challenges("Digest")
        #expect(first.map { $0["userhash"] } == ["true", "true"])
        var sample = DigestSample(first[index])
        (sample.name, sample.password) = ProtectedSpace.jason
        let hash = sample.algorithm.hex("\(sample.name):\(sample.realm)")
        sample.user = "username=\"\(hash)\", userhash=true"
        #expect(try await client.ask("GET", "/", sample.value).text == "Jäsøn Doe")
        sample.count = 2
        sample.user = "username=\"\(hash)\", userhash=false"
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
        let none = sample.algorithm.hex("nobody:\(sample.realm)")
        sample.user = "username=\"\(none)\", userhash=true"
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
    }

    @Test("RFC 8187: A name that is not ASCII is read in both forms")
    func extendedName() async throws {
        let client = try space().client()
        var sample = try await sample(client)
        (sample.name, sample.password) = ProtectedSpace.jason
        sample.user = "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe"
        #expect(try await client.ask("GET", "/", sample.value).text == "Jäsøn Doe")
        sample.user = nil
        sample.count = 2
        #expect(try await client.ask("GET", "/", sample.value).text == "Jäsøn Doe")
    }

    @Test("Only the offered algorithms are accepted")
    func algorithms() async throws {
        let client = try space { $0.digestAlgorithms = [.sha256] }.client()
        var sample = try await sample(client)
        #expect(try await client.ask().challenges("Digest").count == 1)
        sample.algorithm = .md5
        #expect(try await client.ask("GET", "/", sample.value).status == 401)
        sample.algorithm = .sha256
        #expect(try await client.ask("GET", "/", sample.value).status == 200)
    }

    @Test("A request that is replayed many times occupies one entry of the nonce table")
    func replayed() async throws {
        let space = try space {
            $0.nonceLimit = 4
            $0.nonceLifetime = .seconds(60)
        }
        let client = space.client()
        let overheard = try await sample(client)
        #expect(try await client.ask("GET", "/", overheard.value).status == 200)
        for pause: UInt64 in [0, 60] {
            space.advance(seconds: pause)
            for _ in 0..<10 {
                space.time.withLock { $0 += 1 }
                let answer = try await client.ask("GET", "/", overheard.value)
                #expect(answer.status == 401 && answer.isStale)
                #expect(space.authenticator.rememberedCounts.nonces == 1)
            }
        }
    }

    @Test("The number of nonces in use is bounded; a dropped nonce is stale")
    func bounded() async throws {
        let space = try space { $0.nonceLimit = 4 }
        let client = space.client()
        var first = try await sample(client)
        #expect(try await client.ask("GET", "/", first.value).status == 200)
        for _ in 0..<20 {
            space.time.withLock { $0 += 1 }
            let sample = try await sample(client)
            #expect(try await client.ask("GET", "/", sample.value).status == 200)
            #expect(space.authenticator.rememberedCounts.nonces <= 4)
        }
        for count: UInt32 in [1, 2] {
            first.count = count
            let answer = try await client.ask("GET", "/", first.value)
            #expect(answer.status == 401 && answer.isStale)
        }
    }
}
