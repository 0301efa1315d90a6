import HTTPCodecs
import HTTPParser
import HTTPServerAuthentication
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 7617: Basic authentication")
struct BasicAuthenticationTests {
    private let ann = basic(ProtectedSpace.ann.name, ProtectedSpace.ann.password)

    private func space(
        _ change: (inout Authenticator.Options) -> Void = { _ in }
    ) throws -> ProtectedSpace {
        try ProtectedSpace { options in
            options.schemes = [.basic]
            change(&options)
        }
    }

    private static let unreached = SyncHandler { _ in
        Issue.record("the handler was asked")
        return .text("secret")
    }

    @Test("2: Without credentials 401 with realm and charset")
    func challenge() async throws {
        let answer = try await space().client().ask()
        #expect(answer.status == 401)
        #expect(
            answer.fields.filter { $0.name == "WWW-Authenticate" }.map(\.value)
                == [#"Basic realm="Notes \"n\"", charset="UTF-8""#])
    }

    @Test("2: The scheme is read in any case, names and passwords in UTF-8 and ISO-8859-1")
    func granted() async throws {
        let client = try space().client()
        for scheme in ["Basic", "basic", "BASIC", "bAsIc"] {
            let answer = try await client.ask("GET", "/", ann.replacing("Basic", with: scheme))
            #expect(answer.status == 200 && answer.text == "ann")
        }
        let jason = basic(ProtectedSpace.jason.name, ProtectedSpace.jason.password)
        #expect(try await client.ask("GET", "/", jason).text == "Jäsøn Doe")
        // The same in ISO-8859-1, as a client sends it that ignores the charset.
        let latin = "Basic SuRz+G4gRG9lOlNlY3JldCwg9nIgbm90Pw=="
        #expect(try await client.ask("GET", "/", latin).text == "Jäsøn Doe")
        #expect(try await client.ask("HEAD", "/", ann).status == 200)
    }

    @Test(
        "Wrong and malformed credentials are refused, and never reach the handler",
        arguments: [
            basic("ann", "wrong"), basic("ann", ""), basic("ann", "correct: horse "),
            basic("ann ", "correct: horse"), basic("Ann", "correct: horse"),
            basic("nobody", "correct: horse"), basic("", "correct: horse"), basic("", ""),
            basic("ann", "correct: horse\0"), basic("ann\0", "correct: horse"),
            basic("ann", "correct: horse\0anything"), "Basic", "Basic YW5u", "Basic !", "Basic a b",
            "Basic YW5uOmNvcnJlY3Q6IGhvcnNl=", "Basic YW5uOmNvcnJlY3Q6IGhvcnNlCg==", "Basic =",
            "Basic\tYW5uOmNvcnJlY3Q6IGhvcnNl", "YW5uOmNvcnJlY3Q6IGhvcnNl", "Bearer abc",
            "Digest username=\"ann\"", "Negotiate", "ann:correct: horse", "\"Basic\" YQ==",
        ])
    func refused(_ value: String) async throws {
        let space = try space()
        let client = space.client(Self.unreached)
        let answer = try await client.ask("GET", "/", value)
        #expect(answer.status == 401 || answer.status == 400)
        #expect((answer.status == 401) == (answer["WWW-Authenticate"] != nil))
        #expect(space.authenticator.rememberedCounts.passwords == 0)
    }

    @Test("Two Authorization fields are refused, also with valid credentials")
    func twice() async throws {
        let client = try space().client()
        #expect(try await client.ask("GET", "/", ann, ann).status == 400)
        #expect(try await client.ask("GET", "/", ann, "x").status == 400)
    }

    @Test("Credentials up to the limit are read, longer ones are 431")
    func limit() async throws {
        let limit = ann.utf8.count
        for (bytes, status) in [(limit + 1, 200), (limit, 200), (limit - 1, 431)] {
            let client = try space { $0.credentialsByteLimit = bytes }.client()
            #expect(try await client.ask("GET", "/", ann).status == status)
        }
    }

    @Test("A right password is derived once, a wrong one each time")
    func derivations() async throws {
        let space = try space()
        let client = space.client()
        for _ in 0..<5 { #expect(try await client.ask("GET", "/", ann).status == 200) }
        #expect(space.derivations.withLock { $0 } == 1)
        for _ in 0..<5 {
            #expect(try await client.ask("GET", "/", basic("ann", "x")).status == 401)
        }
        #expect(space.derivations.withLock { $0 } == 6)
        #expect(space.authenticator.rememberedCounts.passwords == 1)
    }

    @Test("A user who does not exist costs as many rounds as a wrong password")
    func unknownUser() async throws {
        let space = try space()
        #expect(space.accounts.absentPassword.rounds == 3)
        #expect(space.accounts.accountNow(named: "ann")?.password?.rounds == 3)
        let client = space.client()
        let unknown = try await client.ask("GET", "/", basic("nobody", "x"))
        #expect(space.derivations.withLock { $0 } == 1)
        let wrong = try await client.ask("GET", "/", basic("ann", "x"))
        #expect(space.derivations.withLock { $0 } == 2)
        #expect(unknown.fields.map(\.name) == wrong.fields.map(\.name))
        #expect(unknown.content == wrong.content && unknown.status == wrong.status)
    }

    @Test("A remembered password ends with its lifetime, a new password or the removed account")
    func memory() async throws {
        let space = try space { $0.passwordLifetime = .seconds(60) }
        let client = space.client()
        #expect(try await client.ask("GET", "/", ann).status == 200)
        space.advance(seconds: 59)
        #expect(try await client.ask("GET", "/", ann).status == 200)
        #expect(space.derivations.withLock { $0 } == 1)
        space.advance(seconds: 1)
        #expect(try await client.ask("GET", "/", ann).status == 200)
        #expect(space.derivations.withLock { $0 } == 2)
        try space.accounts.add("ann", password: "new")
        #expect(try await client.ask("GET", "/", ann).status == 401)
        #expect(try await client.ask("GET", "/", basic("ann", "new")).status == 200)
        space.accounts.remove("ann")
        #expect(try await client.ask("GET", "/", basic("ann", "new")).status == 401)
    }

    @Test("No more passwords are remembered than the limit allows", arguments: [0, 1, 3])
    func memoryLimit(_ limit: Int) async throws {
        let space = try space { $0.passwordLimit = limit }
        for number in 0..<8 { try space.accounts.add("u\(number)", password: "p") }
        let client = space.client()
        for _ in 0..<2 {
            for number in 0..<8 {
                #expect(try await client.ask("GET", "/", basic("u\(number)", "p")).status == 200)
                #expect(space.authenticator.rememberedCounts.passwords <= limit)
            }
        }
    }

    @Test("The same credentials on many connections at once are derived once")
    func together() async throws {
        let gate = Locked<[CheckedContinuation<Void, Never>]>([])
        let checker = PasswordChecker(limit: 4, lifetime: 1_000)
        let credentials = try #require(BasicCredentials("YW5uOngx"))
        let key = checker.key(credentials, nil)
        let calls = Locked(0)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await checker.check(key, now: 0) {
                        calls.withLock { $0 += 1 }
                        await withCheckedContinuation { continuation in
                            gate.withLock { $0.append(continuation) }
                        }
                        return true
                    }
                }
            }
            try await waitUntil { checker.waitingCount(key) >= 50 }
            try await waitUntil { !gate.withLock({ $0.isEmpty }) }
            for continuation in gate.withLock({ $0 }) { continuation.resume() }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(calls.withLock { $0 } == 1)
        #expect(checker.isRemembered(key, now: 999) && !checker.isRemembered(key, now: 1_000))
    }

    @Test("More requests than may wait for one check get 503")
    func waiters() async throws {
        let gate = Locked<[CheckedContinuation<Void, Never>]>([])
        let checker = PasswordChecker(limit: 4, lifetime: 1_000)
        let key = checker.key(try #require(BasicCredentials("YW5uOngx")), nil)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<PasswordChecker.waiterLimit {
                group.addTask {
                    try await checker.check(key, now: 0) {
                        await withCheckedContinuation { continuation in
                            gate.withLock { $0.append(continuation) }
                        }
                        return true
                    }
                }
            }
            try await waitUntil { checker.waitingCount(key) >= PasswordChecker.waiterLimit }
            let error = await #expect(throws: HTTPError.self) {
                try await checker.check(key, now: 0) { true }
            }
            #expect(error?.status == .serviceUnavailable)
            try await waitUntil { !gate.withLock({ $0.isEmpty }) }
            for continuation in gate.withLock({ $0 }) { continuation.resume() }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(try await checker.check(key, now: 2_000) { true })
    }

    @Test("More checks than may wait at once get 503")
    func overload() async throws {
        let checker = PasswordChecker(limit: 4, lifetime: 1_000)
        let waiting = Locked<[CheckedContinuation<Void, Never>]>([])
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<PasswordChecker.waitingLimit {
                let credentials = try #require(BasicCredentials(Self.token("u\(number):p")))
                let key = checker.key(credentials, nil)
                group.addTask {
                    try await checker.check(key, now: 0) {
                        await withCheckedContinuation { continuation in
                            waiting.withLock { $0.append(continuation) }
                        }
                        return false
                    }
                }
            }
            try await waitUntil {
                waiting.withLock { $0.count } >= PasswordChecker.waitingLimit
            }
            let more = try #require(BasicCredentials(Self.token("more:p")))
            let error = await #expect(throws: HTTPError.self) {
                try await checker.check(checker.key(more, nil), now: 0) { true }
            }
            #expect(error?.status == .serviceUnavailable)
            for continuation in waiting.withLock({ $0 }) { continuation.resume() }
            for try await isRight in group { #expect(!isRight) }
        }
        #expect(checker.rememberedCount == 0)
    }

    @Test("Guesses are delayed, then refused by 429; other users of the address are not")
    func guessing() async throws {
        let space = try space()
        let handler = AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator)
        let address = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        let client = ProtectedClient(handler, address: address)
        #expect(try await client.ask("GET", "/", ann).status == 200)
        for number in 0..<FailureTable.allowance {
            #expect(try await client.ask("GET", "/", basic("ann", "x\(number)")).status == 401)
        }
        // The clock of the space does not advance: one runs at once, ten wait, the next gets 429.
        let waiting = (0..<11).map { number in
            let client = ProtectedClient(handler, address: address)
            client.connection.send(
                Sample.get("/", "Authorization: \(basic("ann", "y\(number)"))\r\n"))
            return client
        }
        let last = ProtectedClient(handler, address: address)
        let answer = try await last.ask("GET", "/", basic("ann", "z"))
        #expect(answer.status == 429 && answer["Retry-After"] == "10")
        #expect(try await client.ask("GET", "/", ann).status == 200)
        // Another user with the same address logs in for the first time.
        let (name, password) = ProtectedSpace.jason
        #expect(try await last.ask("GET", "/", basic(name, password)).status == 200)
        let other = ProtectedClient(handler, address: PeerAddress(ipv4: (192, 0, 2, 2), port: 1))
        #expect(try await other.ask("GET", "/", basic("ann", "z")).status == 401)
        let local = ProtectedClient(handler, address: PeerAddress(ipv4: (127, 0, 0, 1), port: 1))
        for number in 0..<15 {
            #expect(try await local.ask("GET", "/", basic("ann", "x\(number)")).status == 401)
        }
        for client in waiting {
            client.connection.hangUp()
            try await client.connection.closed()
        }
    }

    @Test("Guesses for all spellings of one account's name count together")
    func spellings() async throws {
        let space = try space()
        try space.accounts.add("\u{C5}sa", password: "p")
        let handler = AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator)
        let address = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        let client = ProtectedClient(handler, address: address)
        let names = ["\u{C5}sa", "A\u{30A}sa", "\u{212B}sa"]
        for number in 0..<FailureTable.allowance {
            let guess = basic(names[number % names.count], "x\(number)")
            #expect(try await client.ask("GET", "/", guess).status == 401)
        }
        // One runs at once, ten wait, the next gets 429.
        let waiting = (0..<11).map { number in
            let client = ProtectedClient(handler, address: address)
            client.connection.send(
                Sample.get("/", "Authorization: \(basic(names[number % 3], "y\(number)"))\r\n"))
            return client
        }
        let last = ProtectedClient(handler, address: address)
        #expect(try await last.ask("GET", "/", basic(names[1], "z")).status == 429)
        for client in waiting {
            client.connection.hangUp()
            try await client.connection.closed()
        }
    }

    @Test("A flood of guesses does not affect an authenticated connection, and ends in a second")
    func flood() async throws {
        let space = try space()
        let handler = AuthenticationHandler(ProtectedSpace.whoami, by: space.authenticator)
        let address = PeerAddress(ipv4: (192, 0, 2, 1), port: 1)
        func newClient() -> ProtectedClient { ProtectedClient(handler, address: address) }
        func guessLater(_ password: String) -> ProtectedClient {
            let client = newClient()
            client.connection.send(
                Sample.get("/", "Authorization: \(basic("ann", password))\r\n"))
            return client
        }
        let user = newClient()
        #expect(try await user.ask("GET", "/", ann).status == 200)
        var guesser = newClient()
        for number in 0..<FailureTable.allowance {
            #expect(try await guesser.ask("GET", "/", basic("ann", "x\(number)")).status == 401)
        }
        // The clock of the space does not advance: one runs at once, ten wait.
        var waiting = (0..<11).map { guessLater("y\($0)") }
        for number in 0..<400 {
            if number % 20 == 0 { guesser = newClient() }
            #expect(try await guesser.ask("GET", "/", basic("ann", "z\(number)")).status == 429)
        }
        for _ in 0..<20 { #expect(try await user.ask("GET", "/", ann).status == 200) }
        #expect(try await newClient().ask("GET", "/", ann).status == 429)
        // A proxy may send guesses over the same connection: one is checked at once.
        #expect(try await user.ask("GET", "/", basic("ann", "z")).status == 401)
        #expect(try await user.ask("GET", "/", basic("ann", "z")).status == 429)
        #expect(try await user.ask("GET", "/", ann).status == 429)
        space.advance(seconds: 1)
        #expect(try await newClient().ask("GET", "/", ann).status == 200)
        #expect(try await user.ask("GET", "/", ann).status == 200)
        // One guess a second is checked, and the waiting ones come first.
        waiting.append(guessLater("z"))
        #expect(try await guesser.ask("GET", "/", ann).status == 429)
        #expect(try await user.ask("GET", "/", ann).status == 200)
        for client in waiting {
            client.connection.hangUp()
            try await client.connection.closed()
        }
    }

    private static func token(_ text: String) -> String {
        Base64.text(of: Array(text.utf8))
    }
}
