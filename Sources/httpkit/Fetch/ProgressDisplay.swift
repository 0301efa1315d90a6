import HTTPParser
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Shows the progress of a transfer on standard error, a terminal, and leaves the last state
/// visible.
final class ProgressDisplay: Sendable {
    private let work: Task<Void, Never>

    init(_ task: TransferTask) {
        let start = ContinuousClock.now
        let stream = task.progress
        work = Task {
            var isShown = false
            for await progress in stream {
                let line = ProgressLine(
                    received: progress.received, newlyReceived: progress.newlyReceived,
                    toReceive: progress.expectedToReceive,
                    sent: progress.sent, toSend: progress.expectedToSend
                ).text(elapsed: start.duration(to: .now))
                Self.write("\r\(line)\u{1B}[K")
                isShown = true
            }
            if isShown { Self.write("\n") }
        }
    }

    /// Waits until the last state is shown, once the transfer is over.
    func end() async { await work.value }

    /// Stops showing progress.
    func cancel() { work.cancel() }

    private static func write(_ text: String) {
        var bytes = ByteBuffer()
        bytes.append(text)
        try? StandardOutput.write(&bytes, to: STDERR_FILENO)
    }
}
