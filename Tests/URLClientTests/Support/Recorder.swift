import HTTPCodecs
import HTTPParser
import ToolkitSystem
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A delegate that records its calls.
final class Recorder: ClientSessionDelegate {
    let entries = Locked([String]())
    let seenStates = Locked([TransferTask.State]())
    let size = Locked(0)
    let gate = Gate()
    /// Whether to block at the first piece of content.
    let queueBlock = Locked(false)
    private let disposition: ResponseDisposition
    private let follows: Bool

    init(_ disposition: ResponseDisposition = .allow, follows: Bool = true) {
        self.disposition = disposition
        self.follows = follows
    }

    var log: [String] { entries.withLock { $0 } }
    var states: [TransferTask.State] { seenStates.withLock { $0 } }

    /// The log with adjacent pieces of content as one entry, because their number varies.
    var order: [String] {
        log.reduce(into: []) { order, entry in
            let name = entry.hasPrefix("content") ? "content" : entry
            if name != "content" || order.last != name { order.append(name) }
        }
    }

    private func add(_ entry: String) { entries.withLock { $0.append(entry) } }

    /// Waits until the log meets a condition.
    func wait(for condition: ([String]) -> Bool) async {
        // The log that the test compares shows what is missing.
        _ = await soon { condition(log) }
    }

    func sessionDidBecomeInvalid() { add("invalid") }

    func task(
        _ task: TransferTask, willRedirectTo request: ClientRequest, from response: ClientResponse
    ) async -> ClientRequest? {
        add("redirect \(response.status.code)")
        return follows ? request : nil
    }

    func task(_ task: TransferTask, didSend progress: TransferProgress) { add("sent") }

    func task(_ task: TransferTask, didReceive interim: ClientResponse.Interim) {
        add("interim \(interim.status.code)")
    }

    func task(
        _ task: TransferTask, didReceiveResponse response: ClientResponse
    ) async -> ResponseDisposition {
        add("response \(response.status.code)")
        return disposition
    }

    func task(_ task: TransferTask, didBecome download: DownloadTask) { add("became") }

    func task(_ task: TransferTask, didReceiveContent content: [UInt8]) {
        seenStates.withLock { if $0.isEmpty { $0 = [task.state] } }
        size.withLock { $0 += content.count }
        let blocks = queueBlock.withLock { blocks in
            defer { blocks = false }
            return blocks
        }
        if blocks {
            add("blocked")
            gate.wait()
        } else if content.count < 100 {
            add("content \(String(decoding: content, as: UTF8.self))")
        } else if log.last != "content" {
            add("content")
        }
    }

    func task(_ task: DownloadTask, didWrite progress: TransferProgress) { add("wrote") }

    func task(_ task: DownloadTask, didFinishDownloadingTo path: String) { add("file") }

    func task(_ task: TransferTask, didCollect metrics: ClientMetrics) { add("metrics") }

    func task(_ task: TransferTask, didCompleteWith error: ClientError?) {
        add(error.map { "complete \($0.kind)" } ?? "complete")
    }
}

/// Pauses for threads that may block.
enum Pause {
    static func milliseconds(_ count: UInt32) { usleep(count * 1_000) }
}
