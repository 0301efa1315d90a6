#if os(Linux)
    internal import CHTTPServerShims
    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif

    /// Watches descriptors with epoll, which also has a timer and a wake-up event.
    @safe
    package final class EpollPoller: @unchecked Sendable {
        package let descriptor: CInt
        private let wakeUp: CInt
        private let timer: CInt
        private static let capacity = 256
        private let events: UnsafeMutablePointer<epoll_event>

        /// Tokens that no connection has.
        package static let wakeToken = UInt64.max
        package static let timerToken = UInt64.max - 1

        /// - Throws: when no descriptors or no watches are left.
        package init() throws(SystemError) {
            descriptor = epoll_create1(CInt(bitPattern: UInt32(0o2000000)))
            wakeUp = descriptor < 0 ? -1 : eventfd(0, CInt(0o2000000 | 0o4000))
            timer =
                wakeUp < 0 ? -1 : timerfd_create(CLOCK_MONOTONIC, CInt(0o2000000 | 0o4000))
            guard timer >= 0 else {
                // The calls after the failed one were not made, so `errno` is its error.
                let call =
                    descriptor < 0
                    ? "epoll_create1" : wakeUp < 0 ? "eventfd" : "timerfd_create"
                let error = SystemError(call)
                for made in [descriptor, wakeUp, timer] where made >= 0 { Syscalls.close(made) }
                throw error
            }
            unsafe events = .allocate(capacity: Self.capacity)
            guard add(wakeUp, [.read, .edge], token: Self.wakeToken),
                add(timer, [.read, .edge], token: Self.timerToken)
            else { throw SystemError("epoll_ctl") }
        }

        deinit {
            Syscalls.close(wakeUp)
            Syscalls.close(timer)
            Syscalls.close(descriptor)
            unsafe events.deallocate()
        }

        private func control(
            _ operation: CInt, _ target: CInt, _ interest: PollInterest, _ token: UInt64
        ) -> Bool {
            var event = unsafe epoll_event()
            if interest.contains(.read) { unsafe event.events |= eventBit(EPOLLIN) }
            if interest.contains(.write) { unsafe event.events |= eventBit(EPOLLOUT) }
            if interest.contains(.exclusive) {
                unsafe event.events |= http_server_epoll_exclusive()
            }
            if interest.contains(.edge) { unsafe event.events |= eventBit(EPOLLET) }
            unsafe event.data.u64 = token
            return unsafe epoll_ctl(descriptor, operation, target, &event) == 0
        }

        package func add(_ target: CInt, _ interest: PollInterest, token: UInt64) -> Bool {
            control(EPOLL_CTL_ADD, target, interest, token)
        }

        package func modify(_ target: CInt, _ interest: PollInterest, token: UInt64) {
            _ = control(EPOLL_CTL_MOD, target, interest, token)
        }

        package func remove(_ target: CInt) {
            _ = control(EPOLL_CTL_DEL, target, [], 0)
        }

        /// Waits for events and passes them to `body` one by one.
        /// - Parameters:
        ///   - milliseconds: how long to wait at most; 0 does not wait.
        ///   - waited: called after the wait, with or without events.
        ///   - body: called with each event.
        /// - Returns: the number of events.
        @inline(__always)
        package func wait(
            milliseconds: CInt, _ waited: () -> Void, each body: (PollEvent) -> Void
        ) -> Int {
            let count = unsafe epoll_wait(descriptor, events, CInt(Self.capacity), milliseconds)
            waited()
            guard count > 0 else { return 0 }
            for index in 0..<Int(count) {
                let event = unsafe events[index]
                let flags = unsafe event.events
                unsafe body(
                    PollEvent(
                        token: event.data.u64,
                        isReadable: flags & eventBit(EPOLLIN) != 0,
                        isWritable: flags & eventBit(EPOLLOUT) != 0,
                        isHungUp: flags & (eventBit(EPOLLHUP) | eventBit(EPOLLERR)) != 0))
            }
            return Int(count)
        }

        /// Makes the poller report `wakeToken`, from any thread.
        package func wake() {
            var one: UInt64 = 1
            _ = unsafe write(wakeUp, &one, 8)
        }

        /// Makes the poller report `timerToken` at a time of the monotonic clock, in nanoseconds;
        /// `nil` never.
        package func setTimer(_ deadline: UInt64?) {
            var spec = itimerspec()
            if let deadline {
                spec.it_value.tv_sec = Int(deadline / 1_000_000_000)
                spec.it_value.tv_nsec = Int(deadline % 1_000_000_000)
            }
            _ = unsafe timerfd_settime(timer, CInt(1), &spec, nil)
        }
    }
#endif
