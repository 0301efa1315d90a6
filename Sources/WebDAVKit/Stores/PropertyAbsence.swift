internal import HTTPServerCore
package import ToolkitSystem

/// A cache of files without dead properties, so that listing a collection again does not read the
/// properties of most members.
///
/// Setting a property changes the status change time of a file, so an entry is valid while that
/// time stays the same. A file is noted only if the time is more than two seconds in the past: then
/// a property that is set right afterwards changes the time, even with a coarse file system clock.
package final class PropertyAbsence: Sendable {
    private struct Seen: Sendable {
        var inode: UInt64 = 0
        var changed: Int64 = 0
    }

    private static let slotCount = 1 << 14
    private static let coarsestClock: Int64 = 2

    private let slots = Locked<[Seen]>([])

    package init() {}

    /// Whether a file is known to have no dead properties.
    package func holds(_ status: FileStatus) -> Bool {
        let seen = Self.seen(status)
        return slots.withLock { slots in
            guard !slots.isEmpty else { return false }
            let slot = slots[Self.index(status)]
            return slot.inode == seen.inode && slot.changed == seen.changed
        }
    }

    /// Records that a file has no dead properties.
    /// - Parameter now: seconds since the epoch at a time before the properties were read.
    package func note(_ status: FileStatus, now: Int64) {
        guard status.changedSeconds < now - Self.coarsestClock else { return }
        let seen = Self.seen(status)
        slots.withLock { slots in
            if slots.isEmpty { slots = [Seen](repeating: Seen(), count: Self.slotCount) }
            slots[Self.index(status)] = seen
        }
    }

    private static func index(_ status: FileStatus) -> Int {
        Int(truncatingIfNeeded: status.inode) & (slotCount - 1)
    }

    /// Inodes are unique only within a volume.
    private static func seen(_ status: FileStatus) -> Seen {
        let changed = status.changedSeconds &* 1_000_000_000 &+ status.changedNanoseconds
        return Seen(inode: status.inode &+ status.device << 32, changed: changed)
    }
}
