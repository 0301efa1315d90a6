import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Waits for SIGINT or SIGTERM. A second one ends the process at once, as users expect who press
/// Control-C again.
enum StopSignal {
    /// It lives as long as the process, for the second signal.
    private static let first = First()

    static func wait() async {
        for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_IGN) }
        await withCheckedContinuation { first.watch($0) }
    }

    /// Resumes once.
    private final class First: @unchecked Sendable {
        private let queue = DispatchQueue(label: "httpkit.signals")
        private var sources: [any DispatchSourceSignal] = []
        private var continuation: CheckedContinuation<Void, Never>?

        func watch(_ continuation: CheckedContinuation<Void, Never>) {
            queue.sync {
                self.continuation = continuation
                sources = [SIGINT, SIGTERM].map {
                    DispatchSource.makeSignalSource(signal: $0, queue: queue)
                }
                for source in sources {
                    source.setEventHandler { @Sendable [self] in signalled() }
                    source.activate()
                }
            }
        }

        /// Runs on the queue, like everything that touches the state.
        private func signalled() {
            guard let continuation else { exit(130) }
            self.continuation = nil
            continuation.resume()
        }
    }
}
