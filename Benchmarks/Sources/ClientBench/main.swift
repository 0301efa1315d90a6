import HTTPParser
import Measuring
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// get URL COUNT CONCURRENT | download URL [slow] | upload URL FILE
// BRIEF_WAIT and BRIEF_POLLING in the environment set `briefWait` and `briefPolling`, in microseconds.

let words = CommandLine.arguments
guard words.count >= 3 else { fatalError("get, download or upload, and a URL") }
let (what, url) = (words[1], words[2])
var configuration = ClientConfiguration()
configuration.decodesContent = false
configuration.connectionsPerOrigin = 64
if let text = ProcessInfo.processInfo.environment["BRIEF_WAIT"], let wait = Int64(text) {
    configuration.briefWait = .microseconds(wait)
}
if let text = ProcessInfo.processInfo.environment["BRIEF_POLLING"], let wait = Int64(text) {
    configuration.briefPolling = .microseconds(wait)
}
let session = ClientSession(configuration)

/// Sends requests one after the other.
@Sendable func sequential(_ count: Int) async throws -> Int64 {
    var bytes: Int64 = 0
    let request = ClientRequest(.get, url)
    for _ in 0..<count { bytes += Int64(try await session.data(for: request).0.count) }
    return bytes
}

/// Sends so many at once.
func concurrent(_ count: Int, _ width: Int) async throws -> Int64 {
    try await withThrowingTaskGroup(of: Int64.self) { group in
        for index in 0..<width {
            let share = count / width + (index < count % width ? 1 : 0)
            group.addTask { try await sequential(share) }
        }
        return try await group.reduce(0, +)
    }
}

/// Reads content as it comes, and counts it.
@Sendable func download(isSlow: Bool) async throws -> Int64 {
    let (content, _) = try await session.bytes(for: ClientRequest(.get, url))
    var bytes: Int64 = 0
    for try await piece in content {
        let before = bytes
        bytes += Int64(piece.count)
        if isSlow, before >> 23 != bytes >> 23 { try await Task.sleep(for: .milliseconds(20)) }
    }
    return bytes
}

// Not on the main actor, whose thread would take part in every hand-over.
switch what {
case "get":
    guard words.count == 5, let count = Int(words[3]), let width = Int(words[4]) else {
        fatalError("COUNT and CONCURRENT")
    }
    _ = try await concurrent(width, width)
    let measurement = Measurement()
    let bytes =
        width == 1
        ? try await Task.detached { try await sequential(count) }.value
        : try await concurrent(count, width)
    measurement.report(requests: count, bytes: bytes)
case "download":
    let isSlow = words.count > 3
    let measurement = Measurement()
    let bytes = try await Task.detached { try await download(isSlow: isSlow) }.value
    measurement.report(requests: 1, bytes: bytes)
default:
    guard words.count == 4 else { fatalError("FILE") }
    let measurement = Measurement()
    let task = session.uploadTask(for: ClientRequest(.put, url), from: .file(words[3]))
    try await task.finished()
    measurement.report(requests: 1, bytes: task.countOfBytesSent)
}
