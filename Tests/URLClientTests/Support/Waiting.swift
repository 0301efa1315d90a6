/// Waits for what happens sooner or later; false if it does not within a minute.
func soon(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<60_000 {
        if condition() { return true }
        guard !Task.isCancelled else { return false }
        try? await Task.sleep(for: .milliseconds(1))
    }
    return condition()
}

/// Waits until a number stays the same for half a second.
func settled(_ number: () -> Int) async throws -> Int {
    var last = -1
    while true {
        let now = number()
        if now == last { return now }
        last = now
        try await Task.sleep(for: .milliseconds(500))
    }
}
