internal import HTTPParser
internal import ToolkitSystem

/// The fields Date and Server of all responses, and the wall clock.
struct CommonFields: ~Copyable {
    private let serverName: String
    private var lines = ByteBuffer(capacity: 128)
    private var isGoodUntil: UInt64 = 0
    /// The offset of the wall clock from the monotonic clock when Date was last formatted.
    private var wallOffset: Int64?

    /// - Parameter serverName: the value of Server; empty for none.
    init(serverName: String) {
        self.serverName = serverName
    }

    /// The lines of Date and Server, formatted once a second; valid until the next call.
    mutating func lines(at now: UInt64) -> UnsafeRawBufferPointer {
        if now >= isGoodUntil { format(at: now) }
        return unsafe lines.unsafeBytes
    }

    private mutating func format(at now: UInt64) {
        let (seconds, nanoseconds) = Syscalls.realtime()
        isGoodUntil = now &+ 1_000_000_000 &- UInt64(nanoseconds)
        setWallOffset(seconds, nanoseconds)
        lines.removeAll()
        lines.append(literal: "Date: ")
        lines.append(HTTPDate(secondsSinceEpoch: seconds).description)
        lines.append(literal: "\r\n")
        guard !serverName.isEmpty else { return }
        do throws(HTTPMessageError) {
            try lines.append(field: "Server", serverName)
        } catch {
            preconditionFailure("invalid value of Server: \(serverName)")
        }
    }

    /// Nanoseconds since the epoch at a time of the monotonic clock.
    mutating func wallTime(of time: UInt64) -> Int64 {
        if let wallOffset { return Int64(bitPattern: time) &+ wallOffset }
        let (seconds, nanoseconds) = Syscalls.realtime()
        return Int64(bitPattern: time) &+ setWallOffset(seconds, nanoseconds)
    }

    @discardableResult
    private mutating func setWallOffset(_ seconds: Int64, _ nanoseconds: Int64) -> Int64 {
        let wall = seconds &* 1_000_000_000 &+ nanoseconds
        let offset = wall &- Int64(bitPattern: Syscalls.monotonic())
        wallOffset = offset
        return offset
    }
}
