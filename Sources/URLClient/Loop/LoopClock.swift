internal import ToolkitSystem

/// The clock of the session's loop: the system's monotonic clock, in nanoseconds.
enum LoopClock {
    static func now() -> Int64 { Int64(Syscalls.monotonic()) }
}
