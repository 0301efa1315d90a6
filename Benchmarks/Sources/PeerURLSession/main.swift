import Foundation
import FoundationNetworking
import Measuring

// get URL COUNT CONCURRENT | download URL | upload URL FILE

let words = CommandLine.arguments
guard words.count >= 3, let url = URL(string: words[2]) else {
    fatalError("get, download or upload, and a URL")
}
let what = words[1]
let configuration = URLSessionConfiguration.ephemeral
configuration.httpMaximumConnectionsPerHost = 64
configuration.urlCache = nil
configuration.httpCookieStorage = nil

@Sendable func sequential(_ session: URLSession, _ count: Int) async throws -> Int64 {
    var bytes: Int64 = 0
    for _ in 0..<count { bytes += Int64(try await session.data(from: url).0.count) }
    return bytes
}

func concurrent(_ session: URLSession, _ count: Int, _ width: Int) async throws -> Int64 {
    try await withThrowingTaskGroup(of: Int64.self) { group in
        for index in 0..<width {
            let share = count / width + (index < count % width ? 1 : 0)
            group.addTask { try await sequential(session, share) }
        }
        return try await group.reduce(0, +)
    }
}

/// Counts what comes, and says when it is over.
final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var bytes: Int64 = 0
    let isSlow: Bool
    let done = DispatchSemaphore(value: 0)

    init(isSlow: Bool) { self.isSlow = isSlow }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let before = bytes
        bytes += Int64(data.count)
        if isSlow, before >> 23 != bytes >> 23 { Thread.sleep(forTimeInterval: 0.02) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        done.signal()
    }
}

switch what {
case "get":
    let session = URLSession(configuration: configuration)
    guard words.count == 5, let count = Int(words[3]), let width = Int(words[4]) else {
        fatalError("COUNT and CONCURRENT")
    }
    _ = try await concurrent(session, width, width)
    let measurement = Measurement()
    let bytes =
        width == 1
        ? try await Task.detached { try await sequential(session, count) }.value
        : try await concurrent(session, count, width)
    measurement.report(requests: count, bytes: bytes)
case "download":
    let counter = Counter(isSlow: words.count > 3)
    let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
    let measurement = Measurement()
    session.dataTask(with: url).resume()
    counter.done.wait()
    measurement.report(requests: 1, bytes: counter.bytes)
default:
    let counter = Counter(isSlow: false)
    let session = URLSession(configuration: configuration, delegate: counter, delegateQueue: nil)
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    let measurement = Measurement()
    let task = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: words[3]))
    task.resume()
    counter.done.wait()
    measurement.report(requests: 1, bytes: task.countOfBytesSent)
}
