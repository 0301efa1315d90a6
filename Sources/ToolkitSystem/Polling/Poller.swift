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

#if KQUEUE_STAND_IN
    /// The poller that ``KqueueStandIn`` says. Epoll's and kqueue's are both there.
    package struct Poller: Sendable {
        private enum Kind { case epoll(EpollPoller), kqueue(KqueuePoller) }

        private let kind: Kind
        package static let wakeToken = EpollPoller.wakeToken
        package static let timerToken = EpollPoller.timerToken

        package init() throws(SystemError) {
            kind = KqueueStandIn.isChosen ? .kqueue(try KqueuePoller()) : .epoll(try EpollPoller())
        }

        package var descriptor: CInt {
            switch kind {
            case .epoll(let poller): poller.descriptor
            case .kqueue(let poller): poller.descriptor
            }
        }

        package func add(_ target: CInt, _ interest: PollInterest, token: UInt64) -> Bool {
            switch kind {
            case .epoll(let poller): poller.add(target, interest, token: token)
            case .kqueue(let poller): poller.add(target, interest, token: token)
            }
        }

        package func modify(_ target: CInt, _ interest: PollInterest, token: UInt64) {
            switch kind {
            case .epoll(let poller): poller.modify(target, interest, token: token)
            case .kqueue(let poller): poller.modify(target, interest, token: token)
            }
        }

        package func remove(_ target: CInt) {
            switch kind {
            case .epoll(let poller): poller.remove(target)
            case .kqueue(let poller): poller.remove(target)
            }
        }

        package func wait(
            milliseconds: CInt, _ waited: () -> Void, each body: (PollEvent) -> Void
        ) -> Int {
            switch kind {
            case .epoll(let poller): poller.wait(milliseconds: milliseconds, waited, each: body)
            case .kqueue(let poller): poller.wait(milliseconds: milliseconds, waited, each: body)
            }
        }

        package func wake() {
            switch kind {
            case .epoll(let poller): poller.wake()
            case .kqueue(let poller): poller.wake()
            }
        }

        package func setTimer(_ deadline: UInt64?) {
            switch kind {
            case .epoll(let poller): poller.setTimer(deadline)
            case .kqueue(let poller): poller.setTimer(deadline)
            }
        }
    }

    /// Tests on Linux run over a kqueue made of epoll when the environment says TEST_POLLER=kqueue.
    package enum KqueueStandIn {
        package static let isChosen = Syscalls.environment("TEST_POLLER") == "kqueue"
    }
#elseif os(Linux)
    package typealias Poller = EpollPoller
#else
    package typealias Poller = KqueuePoller
#endif
