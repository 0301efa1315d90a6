#if os(Linux)
    internal import CHTTPServerShims
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif

    /// The kernel's list of watched sockets: epoll, with a wake-up in it.
    ///
    /// One thread at a time waits. Another thread may change the list meanwhile.
    @safe
    package final class EpollSocketList: @unchecked Sendable {
        /// The most events of one wait.
        package static let capacity = 128
        package static let waitsForSome = true
        private let descriptor: CInt
        private let waker: CInt
        private let events: UnsafeMutablePointer<http_server_poll_event>
        @exclusivity(unchecked)
        private var some: [http_server_poll_event] = []

        package init?() {
            descriptor = http_server_poller_create()
            waker = descriptor < 0 ? -1 : http_server_poller_create_waker(descriptor)
            unsafe events = .allocate(capacity: Self.capacity)
            guard waker >= 0 else { return nil }
        }

        deinit {
            if waker >= 0 { Syscalls.close(waker) }
            if descriptor >= 0 { Syscalls.close(descriptor) }
            unsafe events.deallocate()
        }

        /// Changes the events that a socket is watched for. An empty set removes it from the list.
        package func change(_ target: CInt, to wanted: SocketEvents, from listed: SocketEvents) {
            http_server_poller_change(
                descriptor, target, CInt(wanted.rawValue), CInt(listed.rawValue))
        }

        /// Waits until something happens or the time is over.
        /// - Returns: how many events there are for ``event(_:)``; -1 if a signal has ended the
        ///   wait.
        package func wait(milliseconds: Int32) -> Int {
            unsafe Int(
                http_server_poller_wait(descriptor, events, CInt(Self.capacity), milliseconds))
        }

        /// An event of the last wait; nil if it was a wake-up.
        package func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? {
            let event = unsafe events[index]
            return (
                event.descriptor, SocketEvents(rawValue: UInt8(truncatingIfNeeded: event.events))
            )
        }

        /// Ends the wait, or the next one.
        package func wake() { http_server_poller_wake(waker) }

        /// Waits only for the sockets in `events`, which need not be on the list. Replaces their
        /// events with those that have happened.
        /// - Returns: whether ``wake()`` has ended the wait.
        package func wait(
            for events: inout [SocketEvent], nanoseconds: Int64, blocks: Bool
        ) -> Bool {
            unsafe some.removeAll(keepingCapacity: true)
            for event in events {
                unsafe some.append(
                    http_server_poll_event(
                        descriptor: event.descriptor, events: CInt(event.events.rawValue)))
            }
            let wasWoken = unsafe http_server_poll_some(
                &some, CInt(some.count), waker, nanoseconds, blocks ? 1 : 0)
            for index in events.indices {
                let happened = unsafe some[index].events
                events[index].events = SocketEvents(rawValue: UInt8(truncatingIfNeeded: happened))
            }
            return wasWoken != 0
        }
    }
#endif
