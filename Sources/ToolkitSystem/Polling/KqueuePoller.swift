#if !os(Linux) || KQUEUE_STAND_IN
    #if canImport(Darwin)
        internal import Darwin
    #else
        internal import CHTTPServerShims
        internal import CKqueueStandIn
        internal import Glibc
    #endif

    /// Watches descriptors with kqueue, which also has a timer and a wake-up event.
    @safe
    package final class KqueuePoller: @unchecked Sendable {
        package let descriptor: CInt
        private static let capacity = 256
        private let events: UnsafeMutablePointer<kevent>

        package static let wakeToken = UInt64.max
        package static let timerToken = UInt64.max - 1

        /// - Throws: when no descriptors are left.
        package init() throws(SystemError) {
            descriptor = kqueue()
            guard descriptor >= 0 else { throw SystemError("kqueue") }
            unsafe events = .allocate(capacity: Self.capacity)
            guard change(1, EVFILT_USER, EV_ADD | EV_CLEAR, token: Self.wakeToken) else {
                throw SystemError("kevent")
            }
        }

        deinit {
            Syscalls.close(descriptor)
            unsafe events.deallocate()
        }

        @discardableResult
        private func change(
            _ ident: UInt, _ filter: Int32, _ flags: Int32, fflags: UInt32 = 0, data: Int = 0,
            token: UInt64
        ) -> Bool {
            var event = unsafe kevent(
                ident: ident, filter: Int16(filter), flags: UInt16(flags), fflags: fflags,
                data: data, udata: UnsafeMutableRawPointer(bitPattern: UInt(token)))
            return unsafe kevent(descriptor, &event, 1, nil, 0, nil) == 0
        }

        package func add(_ target: CInt, _ interest: PollInterest, token: UInt64) -> Bool {
            set(target, interest, token: token)
        }

        package func modify(_ target: CInt, _ interest: PollInterest, token: UInt64) {
            _ = set(target, interest, token: token)
        }

        /// - Returns: whether all filters could be added.
        private func set(_ target: CInt, _ interest: PollInterest, token: UInt64) -> Bool {
            let ident = UInt(target)
            let hasEnded = interest.contains(.endedWriting)
            // A filter cannot change its EV_CLEAR, so it is deleted before it is added again.
            change(ident, EVFILT_WRITE, EV_DELETE, token: token)
            if hasEnded || !interest.contains(.read) {
                change(ident, EVFILT_READ, EV_DELETE, token: token)
            }
            var isSet = true
            if interest.contains(.read) {
                isSet = change(ident, EVFILT_READ, EV_ADD, token: token)
            }
            if interest.contains(.write) {
                isSet = change(ident, EVFILT_WRITE, EV_ADD, token: token) && isSet
            }
            guard interest.isDisjoint(with: [.read, .write]) else { return isSet }
            // Without a filter kqueue reports nothing, not even a reset; epoll always reports a
            // reset. EV_CLEAR keeps a writable socket from firing repeatedly. Once this side has
            // ended its output, the write filter reports that end immediately; only the read filter
            // still waits for the end of the peer.
            let filter = hasEnded ? EVFILT_READ : EVFILT_WRITE
            return change(ident, filter, EV_ADD | EV_CLEAR, token: token)
        }

        package func remove(_ target: CInt) {
            change(UInt(target), EVFILT_READ, EV_DELETE, token: 0)
            change(UInt(target), EVFILT_WRITE, EV_DELETE, token: 0)
        }

        package func wait(
            milliseconds: CInt, _ waited: () -> Void, each body: (PollEvent) -> Void
        ) -> Int {
            let time = PollTime(milliseconds: milliseconds)
            let limit = timespec(tv_sec: time?.seconds ?? 0, tv_nsec: time?.nanoseconds ?? 0)
            let count = unsafe withUnsafePointer(to: limit) { limit in
                unsafe kevent(
                    descriptor, nil, 0, events, CInt(Self.capacity), time == nil ? nil : limit)
            }
            waited()
            guard count > 0 else { return 0 }
            for index in 0..<Int(count) {
                let event = unsafe events[index]
                let isEnd = unsafe event.flags & UInt16(EV_EOF) != 0
                let isRead = unsafe event.filter == Int16(EVFILT_READ)
                let isWrite = unsafe event.filter == Int16(EVFILT_WRITE)
                let reportsOnlyEnd = unsafe event.flags & UInt16(EV_CLEAR) != 0
                if isRead || isWrite, reportsOnlyEnd, !isEnd { continue }
                unsafe body(
                    PollEvent(
                        token: UInt64(UInt(bitPattern: event.udata)),
                        isReadable: isRead && !reportsOnlyEnd,
                        isWritable: isWrite && !reportsOnlyEnd,
                        isHungUp: isEnd && (isWrite || reportsOnlyEnd)))
            }
            return Int(count)
        }

        package func wake() {
            change(1, EVFILT_USER, 0, fflags: UInt32(NOTE_TRIGGER), token: Self.wakeToken)
        }

        package func setTimer(_ deadline: UInt64?) {
            guard let deadline else {
                change(2, EVFILT_TIMER, EV_DELETE, token: Self.timerToken)
                return
            }
            let now = Syscalls.monotonic()
            let wait = deadline > now ? Int((deadline - now) / 1_000_000) + 1 : 1
            change(2, EVFILT_TIMER, EV_ADD | EV_ONESHOT, data: wait, token: Self.timerToken)
        }
    }
#endif
