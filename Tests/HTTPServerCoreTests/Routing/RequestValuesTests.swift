import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

private enum UserKey: RequestKey { typealias Value = String }
private enum CountKey: RequestKey { typealias Value = Int }

@Suite("Values kept with a request")
struct RequestValuesTests {
    /// Sets values when it is called, and answers with them later.
    private struct Later: Handler {
        func answer(_ request: Request) -> Answer {
            request[UserKey.self] = "ann"
            request[CountKey.self] = (request[CountKey.self] ?? 0) + 1
            return .later {
                let copy = request
                copy[UserKey.self] = (request[UserKey.self] ?? "nobody") + "a"
                return .text("\(request[UserKey.self] ?? "") \(request[CountKey.self] ?? 0)")
            }
        }
    }

    @Test("Copies of a request share its values, and each request has separate ones")
    func copiesShareValues() async throws {
        for _ in 0..<2 {
            let answer = try await RouterTests.answer(Later(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(answer.text == "anna 1")
        }
    }

    @Test("A value that was not set, or was removed, is nil")
    func valuesCanBeAbsent() async throws {
        let handler = SyncHandler { request in
            let before = request[CountKey.self]
            request[CountKey.self] = 1
            request[CountKey.self] = nil
            let after = request[CountKey.self]
            return .text("\(String(describing: before)) \(String(describing: after))")
        }
        let answer = try await RouterTests.answer(handler, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.text == "nil nil")
    }
}
