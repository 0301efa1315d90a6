package import Dispatch
internal import ToolkitSystem

extension HTTPServer {
    /// An event of a server, as its delegate and the readers of `events` get it.
    public enum Event: Hashable, Sendable {
        /// It listens at these addresses.
        case started([SocketAddress])
        /// It was suspended, and does not listen any more.
        case suspended
        /// It listens again, at the same addresses.
        case resumed([SocketAddress])
        /// The system closed a listening socket, and the server has replaced it. The value has all
        /// addresses of the server.
        case rebound([SocketAddress])
        /// A connection was opened while no other was open.
        case connected
        /// The last connection was closed, and none was open for `disconnectionInterval`.
        case disconnected
        /// The server was shut down; no connection is left.
        case stopped(StopReason)
        /// It cannot listen: starting, resuming or binding a lost socket again failed.
        case failed(ListenError)
    }

    /// The cause of a stop.
    public enum StopReason: Hashable, Sendable {
        /// The program called `shutdown`.
        case requested
        /// The task of `run` was cancelled.
        case cancelled
        /// The process received one of the signals that `run` stops on.
        case signal(StopSignal)
        /// `run` gave up because the server had failed.
        case failure(ListenError)
    }
}

/// Takes the events of a server one after another, on its queue.
package struct EventReceiver: Sendable {
    let queue: DispatchQueue
    let take: @Sendable (HTTPServer.Event) -> Void

    package init(queue: DispatchQueue, take: @escaping @Sendable (HTTPServer.Event) -> Void) {
        self.queue = queue
        self.take = take
    }
}
