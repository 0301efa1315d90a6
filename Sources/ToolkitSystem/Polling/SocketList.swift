#if KQUEUE_STAND_IN
    /// The list that ``KqueueStandIn`` chooses: epoll's or kqueue's.
    package enum SocketList {
        case epoll(EpollSocketList), kqueue(KqueueSocketList)

        package static let capacity = EpollSocketList.capacity
        package static var waitsForSome: Bool {
            !KqueueStandIn.isChosen && EpollSocketList.waitsForSome
        }

        package init?() {
            let list =
                KqueueStandIn.isChosen
                ? KqueueSocketList().map { .kqueue($0) } : EpollSocketList().map { Self.epoll($0) }
            guard let list else { return nil }
            self = list
        }

        package func change(_ target: CInt, to wanted: SocketEvents, from listed: SocketEvents) {
            switch self {
            case .epoll(let list): list.change(target, to: wanted, from: listed)
            case .kqueue(let list): list.change(target, to: wanted, from: listed)
            }
        }

        package func wait(milliseconds: Int32) -> Int {
            switch self {
            case .epoll(let list): list.wait(milliseconds: milliseconds)
            case .kqueue(let list): list.wait(milliseconds: milliseconds)
            }
        }

        package func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? {
            switch self {
            case .epoll(let list): list.event(index)
            case .kqueue(let list): list.event(index)
            }
        }

        package func wake() {
            switch self {
            case .epoll(let list): list.wake()
            case .kqueue(let list): list.wake()
            }
        }

        package func wait(
            for events: inout [SocketEvent], nanoseconds: Int64, blocks: Bool
        ) -> Bool {
            switch self {
            case .epoll(let list): list.wait(for: &events, nanoseconds: nanoseconds, blocks: blocks)
            case .kqueue(let list):
                list.wait(for: &events, nanoseconds: nanoseconds, blocks: blocks)
            }
        }
    }
#elseif os(Linux)
    package typealias SocketList = EpollSocketList
#else
    package typealias SocketList = KqueueSocketList
#endif
