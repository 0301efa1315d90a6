internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// Sees to it that users add no more bytes than they may, also by several requests at the same time.
final class UploaderQuota: Sendable {
    /// The bytes that a user adds by requests in progress.
    private struct Entry: Sendable {
        var requestCount = 0
        /// The bytes that are held for them.
        var held: Int64 = 0
        /// The bytes of those that were placed since the first one began.
        var placed: Int64 = 0
    }

    private let ask: (@Sendable (Request) async throws -> Int64?)?
    private let entries = Locked<[String?: Entry]>([:])

    /// Whether any user has a quota.
    var isSet: Bool { ask != nil }

    init(_ ask: (@Sendable (Request) async throws -> Int64?)?) {
        self.ask = ask
    }

    /// Asks what the user of a request may add.
    /// - Parameter count: how many bytes are to come, where that is known.
    /// - Returns: `nil` when there is no limit.
    /// - Throws: `UploaderError` with 507 if there are too many.
    func hold(_ count: Int64?, for request: Request) async throws -> Hold? {
        guard let ask else { return nil }
        let user = request.identity?.name
        let placed = begin(user)
        let hold = Hold(self, user, placed)
        guard let allowed = try await ask(request) else { return nil }
        hold.allowed.withLock { $0 = max(allowed, 0) }
        if let count { try hold.reach(count) }
        // No room may be left, and the length is unknown.
        if allowed <= 0, count == nil { try hold.reach(1) }
        return hold
    }

    private func begin(_ user: String?) -> Int64 {
        entries.withLock { entries in
            entries[user, default: Entry()].requestCount += 1
            return entries[user]?.placed ?? 0
        }
    }

    private func end(_ user: String?, _ held: Int64, isPlaced: Bool) {
        entries.withLock { entries in
            guard var entry = entries[user] else { return }
            entry.requestCount -= 1
            entry.held -= held
            if isPlaced { entry.placed += held }
            entries[user] = entry.requestCount > 0 ? entry : nil
        }
    }

    /// Holds bytes for a user.
    /// - Parameters:
    ///   - count: how many more.
    ///   - placed: how many were placed when the user's limit was asked for.
    private func add(_ count: Int64, _ user: String?, _ allowed: Int64, since placed: Int64) -> Bool
    {
        entries.withLock { entries in
            guard var entry = entries[user] else { return false }
            // The limit is of a moment when those were not placed yet.
            let left = allowed - (entry.placed - placed) - entry.held
            guard count <= left else { return false }
            entry.held += count
            entries[user] = entry
            return true
        }
    }

    /// The bytes of one upload or copy, which are held for it until it ends.
    final class Hold: Sendable {
        private let quota: UploaderQuota
        private let user: String?
        private let placed: Int64
        fileprivate let allowed = Locked<Int64>(0)
        private let state = Locked((held: Int64(0), isPlaced: false))

        fileprivate init(_ quota: UploaderQuota, _ user: String?, _ placed: Int64) {
            (self.quota, self.user, self.placed) = (quota, user, placed)
        }

        deinit {
            let (held, isPlaced) = state.withLock { $0 }
            quota.end(user, held, isPlaced: isPlaced)
        }

        /// So many bytes there are, or will be.
        /// - Throws: `UploaderError` with 507 when the user may not add so many.
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

        /// They are in the store now.
        func place() { state.withLock { $0.isPlaced = true } }
    }
}

extension UploaderError {
    static var overQuota: UploaderError {
        UploaderError(.insufficientStorage, .quota, "the upload exceeds the quota of the user")
    }
}

extension UploaderSite {
    /// How many bytes a copy of something will have.
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
