internal import HTTPCodecs
internal import HTTPParser

/// Has the requests for one upload come one after the other, of which the newest matters: an older
/// one that still receives content, or waits, is ended for it, because its client has given it up
/// (section "Concurrency" of the draft). There is an entry only while a request is about an upload.
final class UploadTurns: Sendable {
    private struct Entry: Sendable {
        /// How many requests have come for which it is not known yet whether they may be.
        var arriving = 0
        /// The newest request that may be.
        var newest = 0
        /// Whether it is some request's turn.
        var isTaken = false
        /// The next request in line; its continuation gets whether its turn has come.
        var next: CheckedContinuation<Bool, Never>?
        /// Ends the request whose turn it is, as long as that may be.
        var stop: (@Sendable () -> Void)?
    }

    private struct State: Sendable {
        var entries: [UploadID: Entry] = [:]
        var lastTicket = 0

        /// Changes an entry, which is there only while it has something to say.
        mutating func change<Result>(_ id: UploadID, _ body: (inout Entry) -> Result) -> Result {
            var entry = entries[id] ?? Entry()
            defer { entries[id] = entry.arriving == 0 && !entry.isTaken ? nil : entry }
            return body(&entry)
        }
    }

    private let state = Locked(State())

    /// Whether a request is about an upload.
    func isActive(_ id: UploadID) -> Bool { state.withLock { $0.entries[id] != nil } }

    /// Runs `body` when no other request is about the upload any more. Requests count in the order
    /// in which they come here.
    /// - Parameter check: throws when the request has nothing to do with the upload; no other is
    ///   ended for it then.
    /// - Throws: `UploadProblem` with 409 when a newer one has come before.
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
            throw UploadProblem(.conflict, "a newer request has come for this upload")
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

    /// Lets newer requests end the one whose turn it is.
    /// - Parameter stop: ends it; `nil` when it is to be waited for from now on.
    /// - Returns: whether there is none newer.
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
