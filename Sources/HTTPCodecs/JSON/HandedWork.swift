/// Work that another thread does while its owner waits, so that no two of them use anything at once.
package final class HandedWork: @unchecked Sendable {
    /// Has the work done somewhere else, and returns when it is; throws if it is not done.
    package typealias Lender = @Sendable (HandedWork) async throws -> Void

    private let body: () -> Void

    package init(_ body: @escaping () -> Void) {
        self.body = body
    }

    /// Does the work; called once, by the lender.
    package func run() { body() }
}
