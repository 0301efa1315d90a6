/// Events of a socket that libcurl waits for, or that have happened; the numbers are libcurl's.
struct SocketEvents: OptionSet {
    let rawValue: UInt8
    static let read = SocketEvents(rawValue: 1)
    static let write = SocketEvents(rawValue: 2)
    static let both: SocketEvents = [.read, .write]
}

/// A socket, and the events that it is watched for or that have happened.
struct SocketEvent {
    var descriptor: CInt
    var events: SocketEvents
}

#if KQUEUE_STAND_IN
    internal import ToolkitSystem

    /// The list that ``KqueueStandIn`` chooses: epoll's or kqueue's.
    enum SocketList {
        case epoll(EpollSocketList), kqueue(KqueueSocketList)

        static let capacity = EpollSocketList.capacity
        static var waitsForSome: Bool { !KqueueStandIn.isChosen && EpollSocketList.waitsForSome }

        init?() {
            let list =
                KqueueStandIn.isChosen
                ? KqueueSocketList().map { .kqueue($0) } : EpollSocketList().map { Self.epoll($0) }
            guard let list else { return nil }
            self = list
        }

        func change(_ target: CInt, to wanted: SocketEvents, from listed: SocketEvents) {
            switch self {
            case .epoll(let list): list.change(target, to: wanted, from: listed)
            case .kqueue(let list): list.change(target, to: wanted, from: listed)
            }
        }

        func wait(milliseconds: Int32) -> Int {
            switch self {
            case .epoll(let list): list.wait(milliseconds: milliseconds)
            case .kqueue(let list): list.wait(milliseconds: milliseconds)
            }
        }

        func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? {
            switch self {
            case .epoll(let list): list.event(index)
            case .kqueue(let list): list.event(index)
            }
        }

        func wake() {
            switch self {
            case .epoll(let list): list.wake()
            case .kqueue(let list): list.wake()
            }
        }

        func wait(
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
    typealias SocketList = EpollSocketList
#else
    typealias SocketList = KqueueSocketList
#endif
