#if KQUEUE_STAND_IN
    /// The poller that ``KqueueStandIn`` selects; this build has epoll and kqueue.
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

    /// Tests on Linux use a kqueue made of epoll if the environment has TEST_POLLER=kqueue.
    package enum KqueueStandIn {
        package static let isChosen = Syscalls.environment("TEST_POLLER") == "kqueue"
    }
#elseif os(Linux)
    package typealias Poller = EpollPoller
#else
    package typealias Poller = KqueuePoller
#endif
