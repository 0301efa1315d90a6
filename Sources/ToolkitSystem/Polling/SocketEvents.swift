/// Events of a socket that libcurl waits for, or that have happened; the numbers are libcurl's.
package struct SocketEvents: OptionSet {
    package let rawValue: UInt8
    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable
    package static var read: Self { Self(rawValue: 1) }
    @inlinable
    package static var write: Self { Self(rawValue: 2) }
    @inlinable
    package static var both: Self { Self(rawValue: 3) }
}

/// A socket, and the events that it is watched for or that have happened.
package struct SocketEvent {
    package var descriptor: CInt
    package var events: SocketEvents

    @inlinable
    package init(descriptor: CInt, events: SocketEvents) {
        self.descriptor = descriptor
        self.events = events
    }
}
