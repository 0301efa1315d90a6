internal import HTTPParser
internal import ToolkitSystem

/// Serialises the requests for one upload, and prefers the newest. An older request that still
/// receives content, or waits, is ended, because its client has given it up (section "Concurrency"
/// of the draft). An entry exists only while a request for its upload is active.
final class UploadRequestQueue: Sendable {
    private struct Entry: Sendable {
        /// The number of requests that have not been checked yet.
        var arriving = 0
        /// The ticket of the newest request that passed its check.
        var newest = 0
        /// Whether a request is running.
        var isTaken = false
        /// The waiting request: resumed with `true` when it may run, and with `false` when a newer
        /// request takes its place.
        var next: CheckedContinuation<Bool, Never>?
        /// Ends the running request; `nil` if newer requests must wait for its end.
        var stop: (@Sendable () -> Void)?
    }

    private struct State: Sendable {
        var entries: [UploadID: Entry] = [:]
        var lastTicket = 0

        /// Changes an entry, and removes it once it is idle.
        mutating func change<Result>(_ id: UploadID, _ body: (inout Entry) -> Result) -> Result {
            var entry = entries[id] ?? Entry()
            defer { entries[id] = entry.arriving == 0 && !entry.isTaken ? nil : entry }
            return body(&entry)
        }
    }

    private let state = Locked(State())

    /// Whether a request for the upload is active.
    func isActive(_ id: UploadID) -> Bool { state.withLock { $0.entries[id] != nil } }

    /// Runs `body` once no other request for the upload runs. The order of calls is the order of
    /// the requests.
    /// - Parameter check: throws when the request must not touch the upload; then no other request
    ///   is ended.
    /// - Throws: `UploadProblem` with 409 when a newer request has arrived in the meantime.
    func run<Result>(
        _ id: UploadID, ifAllowed check: () async throws -> Void = {},
        _ body: () async throws -> Result
    ) async throws -> Result {
        let ticket = arrive(id)
        do {
            try await check()
        } catch {
            state.withLock { state in state.change(id) { $0.arriving -= 1 } }
            throw error
        }
        guard await begin(id, ticket) else {
            throw UploadProblem(.conflict, "a newer request for this upload has arrived")
        }
        defer { end(id) }
        return try await body()
    }

    private func arrive(_ id: UploadID) -> Int {
        state.withLock { state in
            state.lastTicket += 1
            state.change(id) { $0.arriving += 1 }
            return state.lastTicket
        }
    }

    private func begin(_ id: UploadID, _ ticket: Int) async -> Bool {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let (answer, older): (Bool?, Entry) = state.withLock { state in
                state.change(id) { entry in
                    entry.arriving -= 1
                    guard ticket > entry.newest else { return (false, Entry()) }
                    entry.newest = ticket
                    guard entry.isTaken else {
                        entry.isTaken = true
                        return (true, Entry())
                    }
                    let older = entry
                    (entry.next, entry.stop) = (continuation, nil)
                    return (nil, older)
                }
            }
            older.next?.resume(returning: false)
            older.stop?()
            if let answer { continuation.resume(returning: answer) }
        }
    }

    private func end(_ id: UploadID) {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.change(id) { entry in
                let next = entry.next
                entry.isTaken = next != nil
                (entry.next, entry.stop) = (nil, nil)
                return next
            }
        }
        next?.resume(returning: true)
    }

    /// Sets whether a newer request may end the running request.
    /// - Parameter stop: ends the running request; with `nil`, newer requests wait for its end.
    /// - Returns: false if a newer request waits already; then `stop` is not stored.
    @discardableResult
    func mayStop(_ id: UploadID, _ stop: (@Sendable () -> Void)?) -> Bool {
        state.withLock { state in
            state.change(id) { entry in
                guard entry.next == nil || stop == nil else { return false }
                entry.stop = stop
                return true
            }
        }
    }
}
