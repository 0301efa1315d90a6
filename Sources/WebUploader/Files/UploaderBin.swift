internal import HTTPCrypto
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// Deleted files and folders, which can be restored for a limited time.
///
/// The store hides them from clients. An item is removed for good when its time has expired, or
/// when the bin is full and the item is the oldest. The store removes all other items when it
/// closes, or else when it is opened again.
final class UploaderBin: Sendable {
    /// The most items in the bin. One more removes the oldest.
    private static let countLimit = 1_000
    /// The length of a key, in characters.
    static let keyLength = 32

    struct Item: Sendable {
        /// The name for the store's `restore`.
        var name: String
        /// The path before the deletion.
        var path: ResourcePath
        var isFolder: Bool
        /// The user who deleted the item. No other user may restore it.
        var user: String?
        var end: ContinuousClock.Instant
    }

    private let store: any ResourceStore
    private let lifetime: Duration
    private let items = Locked<[String: Item]>([:])

    init(_ store: any ResourceStore, lifetime: Duration) {
        (self.store, self.lifetime) = (store, lifetime)
    }

    /// Moves a file or folder into the bin.
    /// - Returns: the key for `take`; `nil` if there is no bin, and nothing changed.
    func discard(
        _ path: ResourcePath, isFolder: Bool, _ call: UploaderCall
    ) async throws -> String? {
        guard lifetime > .zero, let name = try await store.discard(path) else { return nil }
        let key = Hex.text(of: Crypto.random(Self.keyLength / 2))
        let item = Item(
            name: name, path: path, isFolder: isFolder, user: call.request.identity?.name,
            end: .now + lifetime)
        keep(item, key)
        return key
    }

    /// Adds an item to the bin until its time has expired. An item that could not be restored is
    /// added again.
    func keep(_ item: Item, _ key: String) {
        let oldest = items.withLock { items -> Item? in
            items[key] = item
            guard items.count > Self.countLimit else { return nil }
            guard let first = items.min(by: { $0.value.end < $1.value.end }) else { return nil }
            return items.removeValue(forKey: first.key)
        }
        if let oldest {
            let store = store
            Task { await store.forget(oldest.name) }
        }
        // The task references neither the bin nor the store while it sleeps.
        Task { [weak self] in
            try? await Task.sleep(until: item.end, clock: .continuous)
            await self?.removeOld()
        }
    }

    /// Takes an item out of the bin, so that the caller can restore it.
    /// - Returns: `nil` if the item is gone or has expired, or if another user deleted it.
    func take(_ key: String, _ call: UploaderCall) -> Item? {
        let user = call.request.identity?.name
        return items.withLock { items in
            guard let item = items[key], UserKey(item.user) == UserKey(user), item.end > .now else {
                return nil
            }
            return items.removeValue(forKey: key)
        }
    }

    private func removeOld() async {
        let old = items.withLock { items in
            let old = items.filter { $0.value.end <= .now }
            for key in old.keys { items[key] = nil }
            return Array(old.values)
        }
        for item in old { await store.forget(item.name) }
    }
}
