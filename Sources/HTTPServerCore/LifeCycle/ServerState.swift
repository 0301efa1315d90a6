extension HTTPServer {
    /// The state of a server.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// It does not listen, and has no connections.
        case stopped
        /// The server is about to listen, either first or again.
        case starting
        /// It listens on all endpoints and serves.
        case running
        /// It does not listen until `resume`; earlier connections may still be served.
        case suspended
        /// It accepts no more connections, and waits for running requests.
        case stopping
        /// The server cannot listen, with this error, until `start` or `resume` succeeds. Earlier
        /// connections may still be served.
        case failed(ListenError)

        /// One word, and the error after `failed`.
        public var description: String {
            switch self {
            case .stopped: "stopped"
            case .starting: "starting"
            case .running: "running"
            case .suspended: "suspended"
            case .stopping: "stopping"
            case .failed(let error): "failed: \(error)"
            }
        }
    }

    /// The treatment of open connections when a server is suspended.
    public enum ConnectionsAtSuspension: Hashable, Sendable {
        /// Idle connections are closed immediately, and the others after the current response, or
        /// when the given time is over; `nil` for the `shutdownGrace` of the configuration.
        case finish(within: Duration?)
        /// All are closed immediately, and their handlers are cancelled.
        case close
        /// All are still served; new connections are not accepted.
        case keep
    }
}
