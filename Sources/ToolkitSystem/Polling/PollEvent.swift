/// The events to watch for on a descriptor.
package struct PollInterest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static var read: Self { Self(rawValue: 1) }
    package static var write: Self { Self(rawValue: 2) }
    /// Wakes one of the pollers that watch the descriptor, not all.
    package static var exclusive: Self { Self(rawValue: 4) }
    /// Edge-triggered, so that the wake-up descriptor needs no read.
    package static var edge: Self { Self(rawValue: 8) }
    /// Not an interest, but a fact: this side has ended its output. The end of the peer's output
    /// then reports that the peer is lost; kqueue needs a read filter to report it.
    package static var endedWriting: Self { Self(rawValue: 16) }
}

/// An event of a descriptor.
package struct PollEvent: Sendable {
    package var token: UInt64
    package var isReadable: Bool
    package var isWritable: Bool
    /// Both directions are closed, or the descriptor failed.
    package var isHungUp: Bool

    @inline(__always)
    package init(token: UInt64, isReadable: Bool, isWritable: Bool, isHungUp: Bool) {
        self.token = token
        self.isReadable = isReadable
        self.isWritable = isWritable
        self.isHungUp = isHungUp
    }
}

/// A time to wait in the form of `kevent`, whose nanoseconds are below a second.
package struct PollTime: Equatable, Sendable {
    package let seconds: Int
    package let nanoseconds: Int

    /// - Parameter milliseconds: as in `epoll_wait`. A negative number means no limit; the result
    ///   is `nil` then.
    package init?(milliseconds: CInt) {
        guard milliseconds >= 0 else { return nil }
        seconds = Int(milliseconds / 1000)
        nanoseconds = Int(milliseconds % 1000) * 1_000_000
    }
}
