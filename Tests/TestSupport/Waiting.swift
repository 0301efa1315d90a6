/// A condition that did not hold in time.
package struct Overdue: Error, CustomStringConvertible {
    package var description: String
}

/// Waits until a condition holds.
///
/// The limit only ends a test whose condition never holds. It is long enough for a machine whose
/// processors are busy with other work, so no test depends on its length.
/// - Throws: `Overdue` with the place of the call when the condition does not hold within `limit`;
///   `CancellationError` when the test is cancelled.
package func waitUntil(
    within limit: Duration = .seconds(60), file: StaticString = #fileID, line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else {
            throw Overdue(description: "the condition at \(file):\(line) did not hold in \(limit)")
        }
        try await Task.sleep(for: .milliseconds(1))
    }
}
