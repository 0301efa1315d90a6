extension HTTPServer {
    /// The state of a server.
    public enum State: Hashable, Sendable, CustomStringConvertible {
        /// It does not listen, and has no connections.
        case stopped
        /// The server is about to listen, either first or again.
        case starting
        /// It listens on all endpoints and serves.
        case running
        /// It does not listen until `resume`; connections of before may still be served.
        case suspended
        /// It takes no more connections, and lets the requests end that run.
        case stopping
        /// The server cannot listen, with this error, until `start` or `resume` succeeds. Earlier
        /// connections may still be served.
        case failed(ListenError)

        /// One word, or the error's line.
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
        /// Idle ones are closed at once, and the others after the response that is under way, but
        /// not later than this; `nil` for the grace of the configuration.
        case finish(within: Duration?)
        /// All are closed at once, and their handlers cancelled.
        case close
        /// All are served on; only new ones are not taken.
        case keep
    }
}
