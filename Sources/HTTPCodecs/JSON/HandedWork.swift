/// Work that another thread does while its owner waits, so that the two never access the same data
/// at the same time.
package final class HandedWork: @unchecked Sendable {
    /// Runs the work on another thread, and returns when it is done; throws if it was not run.
    package typealias Lender = @Sendable (HandedWork) async throws -> Void

    private let body: () -> Void

    package init(_ body: @escaping () -> Void) {
        self.body = body
    }

    /// Does the work. The lender calls this once.
    package func run() { body() }
}
