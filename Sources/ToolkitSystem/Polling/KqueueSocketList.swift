#if !os(Linux) || KQUEUE_STAND_IN
    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import CHTTPServerShims
        internal import CKqueueStandIn
        internal import Glibc
    #endif

    /// The kernel's list of watched sockets: kqueue, with a wake-up in it.
    ///
    /// One thread at a time waits. Another thread may change the list meanwhile.
    @safe
    package final class KqueueSocketList: @unchecked Sendable {
        /// The most events of one wait.
        package static let capacity = 128
        package static let waitsForSome = false
        private let descriptor: CInt
        private let events: UnsafeMutablePointer<kevent>

        package init?() {
            descriptor = kqueue()
            unsafe events = .allocate(capacity: Self.capacity)
            guard descriptor >= 0, change(0, EVFILT_USER, EV_ADD | EV_CLEAR) else { return nil }
        }

        deinit {
            if descriptor >= 0 { Syscalls.close(descriptor) }
            unsafe events.deallocate()
        }

        @discardableResult
        private func change(
            _ target: UInt, _ filter: Int32, _ flags: Int32, _ more: UInt32 = 0
        ) -> Bool {
            var event = unsafe kevent(
                ident: target, filter: Int16(filter), flags: UInt16(flags), fflags: more, data: 0,
                udata: nil)
            return unsafe kevent(descriptor, &event, 1, nil, 0, nil) == 0
        }

        package func change(_ target: CInt, to wanted: SocketEvents, from listed: SocketEvents) {
            for (bit, filter) in [(SocketEvents.read, EVFILT_READ), (.write, EVFILT_WRITE)]
            where wanted.contains(bit) != listed.contains(bit) {
                change(UInt(target), filter, wanted.contains(bit) ? EV_ADD : EV_DELETE)
            }
        }

        package func wait(milliseconds: Int32) -> Int {
            var time = timespec(
                tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
            return Int(unsafe kevent(descriptor, nil, 0, events, CInt(Self.capacity), &time))
        }

        package func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? {
            let event = unsafe events[index]
            guard unsafe event.filter != Int16(EVFILT_USER) else { return nil }
            return unsafe (CInt(event.ident), event.filter == Int16(EVFILT_WRITE) ? .write : .read)
        }

        package func wake() {
            change(0, EVFILT_USER, 0, UInt32(NOTE_TRIGGER))
        }

        /// Never called: ``waitsForSome`` is false.
        package func wait(
            for events: inout [SocketEvent], nanoseconds: Int64, blocks: Bool
        ) -> Bool { true }
    }
#endif
