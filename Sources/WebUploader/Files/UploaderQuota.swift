internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// Enforces the quotas of users, also across several requests at the same time.
final class UploaderQuota: Sendable {
    /// The bytes that a user adds by requests in progress.
    private struct Entry: Sendable {
        var requestCount = 0
        /// The bytes that are reserved for these requests.
        var held: Int64 = 0
        /// The bytes that ended requests have stored since the entry was made.
        var placed: Int64 = 0
    }

    private let ask: (@Sendable (Request) async throws -> Int64?)?
    private let entries = Locked<[UserKey: Entry]>([:])

    /// Whether any user has a quota.
    var isSet: Bool { ask != nil }

    init(_ ask: (@Sendable (Request) async throws -> Int64?)?) {
        self.ask = ask
    }

    /// Asks for the quota of a request's user, and reserves the bytes of the request.
    /// - Parameter count: the bytes that the request will add; `nil` if unknown.
    /// - Returns: the reservation; `nil` if the user has no limit.
    /// - Throws: `UploaderError` with 507 if the bytes exceed the quota.
    func hold(_ count: Int64?, for request: Request) async throws -> Hold? {
        guard let ask else { return nil }
        let user = UserKey(request.identity?.name)
        let placed = begin(user)
        let hold = Hold(self, user, placed)
        guard let allowed = try await ask(request) else { return nil }
        hold.allowed.withLock { $0 = max(allowed, 0) }
        if let count { try hold.reach(count) }
        // With an unknown length, at least one byte must be left.
        if allowed <= 0, count == nil { try hold.reach(1) }
        return hold
    }

    private func begin(_ user: UserKey) -> Int64 {
        entries.withLock { entries in
            entries[user, default: Entry()].requestCount += 1
            return entries[user]?.placed ?? 0
        }
    }

    private func end(_ user: UserKey, _ held: Int64, isPlaced: Bool) {
        entries.withLock { entries in
            guard var entry = entries[user] else { return }
            entry.requestCount -= 1
            entry.held -= held
            if isPlaced { entry.placed += held }
            entries[user] = entry.requestCount > 0 ? entry : nil
        }
    }

    /// Reserves more bytes for a user.
    /// - Parameters:
    ///   - count: the additional bytes.
    ///   - allowed: the user's limit.
    ///   - placed: the value of `Entry.placed` when the limit was asked for.
    /// - Returns: false if the bytes exceed the limit.
    private func add(
        _ count: Int64, _ user: UserKey, _ allowed: Int64, since placed: Int64
    ) -> Bool {
        entries.withLock { entries in
            guard var entry = entries[user] else { return false }
            // The limit does not include bytes that were placed after it was asked for.
            let left = allowed - (entry.placed - placed) - entry.held
            guard count <= left else { return false }
            entry.held += count
            entries[user] = entry
            return true
        }
    }

    /// The reserved bytes of one upload or copy. The reservation ends with this object.
    final class Hold: Sendable {
        private let quota: UploaderQuota
        private let user: UserKey
        private let placed: Int64
        fileprivate let allowed = Locked<Int64>(0)
        private let state = Locked((held: Int64(0), isPlaced: false))

        fileprivate init(_ quota: UploaderQuota, _ user: UserKey, _ placed: Int64) {
            (self.quota, self.user, self.placed) = (quota, user, placed)
        }

        deinit {
            let (held, isPlaced) = state.withLock { $0 }
            quota.end(user, held, isPlaced: isPlaced)
        }

        /// Raises the reservation to `count` bytes in all.
        /// - Throws: `UploaderError` with 507 if `count` exceeds the quota.
        func reach(_ count: Int64) throws(UploaderError) {
            let limit = allowed.withLock { $0 }
            let isHeld = state.withLock { state in
                guard count > state.held else { return true }
                guard quota.add(count - state.held, user, limit, since: placed) else {
                    return false
                }
                state.held = count
                return true
            }
            guard isHeld else { throw .overQuota }
        }

        /// Notes that the bytes are in the store.
        func place() { state.withLock { $0.isPlaced = true } }
    }
}

extension UploaderError {
    static var overQuota: UploaderError {
        UploaderError(.insufficientStorage, .quota, "the upload exceeds the quota of the user")
    }
}

extension UploaderSite {
    /// The number of bytes that a copy of a file or folder will have.
    func size(of path: ResourcePath, _ info: ResourceInfo) async throws -> Int64 {
        guard info.isCollection else { return info.length }
        var size: Int64 = 0
        var folders = [path]
        while let folder = folders.popLast() {
            let members = try await files.store.members(of: folder, withProperties: false)
            while let batch = try await members.next() {
                for member in batch {
                    // Links inside of a folder are copied as links.
                    if member.isLink { continue }
                    if member.info.isCollection { folders.append(folder.appending(member.name)) }
                    let (sum, isTooLarge) = size.addingReportingOverflow(member.info.length)
                    size = isTooLarge ? .max : sum
                }
            }
        }
        return size
    }
}
