/// Events of a socket that libcurl waits for, or that have happened; the numbers are libcurl's.
///
/// It is no `OptionSet`: the compiler would not specialize its methods for other modules.
@frozen
package struct SocketEvents: Equatable, Sendable {
    package var rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable
    package static var none: Self { Self(rawValue: 0) }
    @inlinable
    package static var read: Self { Self(rawValue: 1) }
    @inlinable
    package static var write: Self { Self(rawValue: 2) }
    @inlinable
    package static var both: Self { Self(rawValue: 3) }

    @inlinable
    package var isEmpty: Bool { rawValue == 0 }

    @inlinable
    package func contains(_ events: Self) -> Bool { rawValue & events.rawValue == events.rawValue }

    @inlinable
    package mutating func insert(_ events: Self) { rawValue |= events.rawValue }

    @inlinable
    package static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }
}

/// A socket, and the events that it is watched for or that have happened.
@frozen
package struct SocketEvent {
    package var descriptor: CInt
    package var events: SocketEvents

    @inlinable
    package init(descriptor: CInt, events: SocketEvents) {
        self.descriptor = descriptor
        self.events = events
    }
}
