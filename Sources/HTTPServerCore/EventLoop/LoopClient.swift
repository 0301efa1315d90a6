package import ToolkitSystem

/// Something that waits in a loop for events and deadlines. All of it is confined to the loop.
package class LoopClient {
    package final var token: UInt64 = .max
    /// When `deadlineReached` is to be called, in nanoseconds; `.max` never.
    @exclusivity(unchecked)
    package final var deadline: UInt64 = .max
    /// When the wheel will look at the deadline; `.max` when it has no entry.
    @exclusivity(unchecked)
    final var scheduled: UInt64 = .max

    /// - Parameter loop: where the client gets its events and deadlines from now on.
    init(in loop: EventLoop) {
        loop.insert(self)
    }

    /// The descriptor has changed.
    package func handle(_ event: PollEvent) {}

    /// The deadline has passed; none is set any more.
    package func deadlineReached() {}
}
