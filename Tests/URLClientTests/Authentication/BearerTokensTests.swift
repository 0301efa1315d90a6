import HTTPCodecs
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 6750: Tokens")
struct BearerTokensTests {
    private let origin = Origin(scheme: "https", host: "h.example")

    /// Issues numbered tokens once the test calls `open()`.
    private actor Issuer {
        private(set) var asked: [String?] = []
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var isOpen = false

        func token(_ refused: String?) async -> String? {
            asked.append(refused)
            let number = asked.count
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
            return "t\(number)"
        }

        func open() {
            isOpen = true
            for one in waiting { one.resume() }
            waiting = []
        }
    }

    @Test("Concurrent callers share one call to the token source")
    func singleFlight() async throws {
        let issuer = Issuer()
        let tokens = BearerTokens(
            BearerAuthentication(origins: [origin]) { await issuer.token($0) })
        #expect(tokens.current == nil && tokens.covers(origin))
        let results = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await tokens.token() } }
            try await waitUntil { await !issuer.asked.isEmpty }
            await issuer.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 100 && results.allSatisfy { $0 == "t1" })
        #expect(await issuer.asked == [nil])
        // All callers report the token as refused: it is renewed once, and late callers get the new
        // token at once.
        let renewed = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try await tokens.token(refused: "t1") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(renewed.allSatisfy { $0 == "t2" })
        #expect(await issuer.asked == [nil, "t1"])
        #expect(try await tokens.token() == "t2" && tokens.current == "t2")
    }

    @Test("After a failure or without a token, the next caller asks the token source again")
    func failure() async throws {
        struct Down: Error {}
        let count = Locked(0)
        let tokens = BearerTokens(
            BearerAuthentication(origins: [origin]) { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number == 1 { throw Down() }
                return number == 2 ? nil : "t"
            })
        await #expect(throws: Down.self) { try await tokens.token() }
        #expect(try await tokens.token() == nil)
        #expect(try await tokens.token() == "t")
    }

    @Test("A reset discards the current token and a token that is still being fetched")
    func reset() async throws {
        let issuer = Issuer()
        let tokens = BearerTokens(
            BearerAuthentication(origins: [origin]) { await issuer.token($0) })
        let late = Task { try await tokens.token() }
        try await waitUntil { await !issuer.asked.isEmpty }
        tokens.reset()
        await issuer.open()
        #expect(try await late.value == "t1" && tokens.current == nil)
        #expect(try await tokens.token() == "t2" && tokens.current == "t2")
        tokens.reset()
        #expect(tokens.current == nil)
    }

    @Test("Only a valid token is written to or read from a Bearer field")
    func values() {
        #expect(
            BearerAuthorization.value(token: "mF_9.B5f-4.1JqM~+/=") == "Bearer mF_9.B5f-4.1JqM~+/=")
        for token in ["", "a b", "a\r\nX: y", "ä", "a,b", "a=b"] {
            #expect(BearerAuthorization.value(token: token) == nil)
        }
        #expect(BearerAuthorization.token(of: "bearer abc") == "abc")
        #expect(BearerAuthorization.token(of: "Basic abc") == nil)
        #expect(BearerAuthorization.token(of: "Bearer a=b") == nil)
    }
}
