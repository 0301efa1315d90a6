#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
#if os(Linux)
    internal import CHTTPServerShims
#endif
#if KQUEUE_STAND_IN
    internal import CKqueueStandIn
#endif

/// The interest in a descriptor.
package struct PollInterest: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static var read: Self { Self(rawValue: 1) }
    package static var write: Self { Self(rawValue: 2) }
    /// Wakes one of the pollers that watch the descriptor, not all.
    package static var exclusive: Self { Self(rawValue: 4) }
    /// Edge-triggered, so that the wake-up descriptor needs no read.
    package static var edge: Self { Self(rawValue: 8) }
    /// This side has ended its output, which is no interest. The loss of the peer is reported by its
    /// end then, which kqueue has to be asked for.
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

    /// - Parameter milliseconds: as `epoll_wait` takes them; negative waits without an end, for
    ///   which there is no time.
    package init?(milliseconds: CInt) {
        guard milliseconds >= 0 else { return nil }
        seconds = Int(milliseconds / 1000)
        nanoseconds = Int(milliseconds % 1000) * 1_000_000
    }
}

#if os(Linux) && !KQUEUE_STAND_IN
    /// The kernel's list of watched descriptors: epoll, with a timer and a wake-up in it.
    @safe
    package final class Poller: @unchecked Sendable {
        package let descriptor: CInt
        private let wakeUp: CInt
        private let timer: CInt
        private static let capacity = 256
        private let events: UnsafeMutablePointer<epoll_event>

        /// Tokens that are no connection's.
        package static let wakeToken = UInt64.max
        package static let timerToken = UInt64.max - 1

        /// - Throws: when there are no descriptors left.
        package init() throws(SystemError) {
            descriptor = epoll_create1(CInt(bitPattern: UInt32(0o2000000)))
            wakeUp = eventfd(0, CInt(0o2000000 | 0o4000))
            timer = timerfd_create(CLOCK_MONOTONIC, CInt(0o2000000 | 0o4000))
            guard descriptor >= 0, wakeUp >= 0, timer >= 0 else {
                let error = SystemError("epoll_create1")
                for made in [descriptor, wakeUp, timer] where made >= 0 { Syscalls.close(made) }
                throw error
            }
            unsafe events = .allocate(capacity: Self.capacity)
            _ = add(wakeUp, [.read, .edge], token: Self.wakeToken)
            _ = add(timer, [.read, .edge], token: Self.timerToken)
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

        /// Waits for events and hands them over one by one.
        /// - Parameters:
        ///   - milliseconds: how long to wait at the most; 0 only looks.
        ///   - waited: called when the waiting is over, events or not.
        ///   - body: called with each event.
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

        /// Makes the poller report `timerToken` at a time of the monotonic clock; `nil` never.
        package func setTimer(_ deadline: UInt64?) {
            var spec = itimerspec()
            if let deadline {
                spec.it_value.tv_sec = Int(deadline / 1_000_000_000)
                spec.it_value.tv_nsec = Int(deadline % 1_000_000_000)
            }
            _ = unsafe timerfd_settime(timer, CInt(1), &spec, nil)
        }
    }
#else
    /// The kernel's list of watched descriptors: kqueue, with a timer and a wake-up in it.
    @safe
    package final class Poller: @unchecked Sendable {
        package let descriptor: CInt
        private static let capacity = 256
        private let events: UnsafeMutablePointer<kevent>

        package static let wakeToken = UInt64.max
        package static let timerToken = UInt64.max - 1

        /// - Throws: when there are no descriptors left.
        package init() throws(SystemError) {
            descriptor = kqueue()
            guard descriptor >= 0 else { throw SystemError("kqueue") }
            unsafe events = .allocate(capacity: Self.capacity)
            change(1, EVFILT_USER, EV_ADD | EV_CLEAR, token: Self.wakeToken)
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
            modify(target, interest, token: token)
            return true
        }

        package func modify(_ target: CInt, _ interest: PollInterest, token: UInt64) {
            let ident = UInt(target)
            let hasEnded = interest.contains(.endedWriting)
            // A filter keeps EV_CLEAR for its life: another mode needs another filter.
            change(ident, EVFILT_WRITE, EV_DELETE, token: token)
            if hasEnded || !interest.contains(.read) {
                change(ident, EVFILT_READ, EV_DELETE, token: token)
            }
            if interest.contains(.read) { change(ident, EVFILT_READ, EV_ADD, token: token) }
            if interest.contains(.write) { change(ident, EVFILT_WRITE, EV_ADD, token: token) }
            guard interest.isDisjoint(with: [.read, .write]) else { return }
            // Without a filter kqueue reports nothing, not even a reset, which epoll always reports.
            // EV_CLEAR keeps a writable socket from firing over and over. The own end is an end of
            // writing, too, so from then on the end of reading is that of the peer.
            let filter = hasEnded ? EVFILT_READ : EVFILT_WRITE
            change(ident, filter, EV_ADD | EV_CLEAR, token: token)
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
                let tellsOnlyOfEnd = unsafe event.flags & UInt16(EV_CLEAR) != 0
                if isRead || isWrite, tellsOnlyOfEnd, !isEnd { continue }
                unsafe body(
                    PollEvent(
                        token: UInt64(UInt(bitPattern: event.udata)),
                        isReadable: isRead && !tellsOnlyOfEnd,
                        isWritable: isWrite && !tellsOnlyOfEnd,
                        isHungUp: isEnd && (isWrite || tellsOnlyOfEnd)))
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
