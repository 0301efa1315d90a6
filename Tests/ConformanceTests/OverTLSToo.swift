import TestSupport
import Testing

/// Runs each test twice: with servers that use plain HTTP, and with the same servers over TLS.
struct OverTLSToo: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        testCase == nil ? nil : self
    }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await function()
        let marking = IssueHandlingTrait.compactMapIssues { issue in
            var issue = issue
            issue.comments.append("over TLS")
            return issue
        }
        do {
            try await TestTLS.$current.withValue(TestTLS()) {
                try await marking.provideScope(for: test, testCase: testCase, performing: function)
            }
        } catch {
            throw Program.Failure("over TLS: \(error)")
        }
    }
}

extension Trait where Self == OverTLSToo {
    /// For tests that start their servers with `ServeProcess`.
    static var overTLSToo: OverTLSToo { OverTLSToo() }
}
