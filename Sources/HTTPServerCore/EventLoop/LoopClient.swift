package import ToolkitSystem

/// Receives events and deadlines from a loop, and is confined to it.
package class LoopClient {
    package final var token: UInt64 = .max
    /// When `deadlineReached` is to be called, in nanoseconds; `.max` never.
    @exclusivity(unchecked)
    package final var deadline: UInt64 = .max
    /// When the timer wheel checks the deadline, in nanoseconds; `.max` when it has no entry.
    @exclusivity(unchecked)
    final var scheduled: UInt64 = .max

    /// - Parameter loop: the loop that sends events and deadlines to the client from now on.
    init(in loop: EventLoop) {
        loop.insert(self)
    }

    /// The descriptor is ready, was closed by the peer, or has failed.
    package func handle(_ event: PollEvent) {}

    /// The deadline has passed, and was reset to `.max`.
    package func deadlineReached() {}
}

/// The clients of a loop by token. A later client never has the token of a removed one.
struct ClientTable {
    private struct Slot {
        var client: LoopClient?
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    var all: some Sequence<LoopClient> { slots.lazy.compactMap(\.client) }

    @inline(__always)
    subscript(token: UInt64) -> LoopClient? {
        let index = Int(truncatingIfNeeded: token & 0xFFFF_FFFF)
        guard index < slots.count,
            slots[index].generation == UInt32(truncatingIfNeeded: token >> 32)
        else { return nil }
        return slots[index].client
    }

    mutating func insert(_ client: LoopClient) {
        let index: UInt32
        if let last = free.popLast() {
            index = last
        } else {
            index = UInt32(slots.count)
            slots.append(Slot())
        }
        slots[Int(index)].client = client
        client.token = UInt64(slots[Int(index)].generation) << 32 | UInt64(index)
    }

    mutating func remove(_ client: LoopClient) {
        let index = Int(client.token & 0xFFFF_FFFF)
        guard index < slots.count, slots[index].client === client else { return }
        slots[index].client = nil
        slots[index].generation = (slots[index].generation &+ 1) & 0x7FFF_FFFF
        free.append(UInt32(index))
    }
}
