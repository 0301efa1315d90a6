internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// Deleted things that can be put back for a while.
///
/// The store keeps them hidden from clients. They are removed for good when their time is over, and
/// the oldest when the bin is full. The store removes the rest when it closes, or when the next one
/// opens.
final class UploaderBin: Sendable {
    /// How many deletions are kept; above it the oldest one goes.
    private static let countLimit = 1_000
    /// How many characters a key has.
    static let keyLength = 32

    struct Item: Sendable {
        /// The name that `restore` of the store needs.
        var name: String
        /// Where it was.
        var path: ResourcePath
        var isFolder: Bool
        /// The user who has deleted it; no other user may undo it.
        var user: String?
        var end: ContinuousClock.Instant
    }

    private let store: any ResourceStore
    private let lifetime: Duration
    private let items = Locked<[String: Item]>([:])

    init(_ store: any ResourceStore, lifetime: Duration) {
        (self.store, self.lifetime) = (store, lifetime)
    }

    /// Moves something into the bin.
    /// - Returns: the key for `take`; `nil` if there is no bin and nothing changed.
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

    /// Keeps a deleted item, also one that could not be restored, until its time is over.
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
        // Holds neither the bin nor the store while it sleeps.
        Task { [weak self] in
            try? await Task.sleep(until: item.end, clock: .continuous)
            await self?.removeOld()
        }
    }

    /// Takes something out of the bin, to be put back.
    /// - Returns: `nil` if the item is gone or its time is over, or another user has deleted it.
    func take(_ key: String, _ call: UploaderCall) -> Item? {
        let user = call.request.identity?.name
        return items.withLock { items in
            guard let item = items[key], item.user.hasBytes(of: user), item.end > .now else {
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
