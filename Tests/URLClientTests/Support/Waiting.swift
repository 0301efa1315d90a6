import TestSupport

/// Waits for a condition; false if it does not hold within a minute.
func soon(_ condition: () -> Bool) async -> Bool {
    (try? await waitUntil(condition)) != nil
}

/// Waits until a number stays the same for a second.
func settled(_ number: () -> Int) async throws -> Int {
    var last = -1
    try await waitUntil {
        defer { last = number() }
        try await Task.sleep(for: .seconds(1))
        return number() == last
    }
    return last
}
