import AsyncHTTPClient
import Measuring
import NIOCore
import NIOFileSystem
import NIOHTTP1

// get URL COUNT CONCURRENT | download URL [slow] | upload URL FILE

let words = CommandLine.arguments
guard words.count >= 3 else { fatalError("get, download or upload, and a URL") }
let (what, url) = (words[1], words[2])
var configuration = HTTPClient.Configuration()
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

@Sendable func sequential(_ count: Int) async throws -> Int64 {
    var bytes: Int64 = 0
    for _ in 0..<count {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        bytes += Int64(try await response.body.collect(upTo: 1 << 20).readableBytes)
    }
    return bytes
}

func concurrent(_ count: Int, _ width: Int) async throws -> Int64 {
    try await withThrowingTaskGroup(of: Int64.self) { group in
        for index in 0..<width {
            let share = count / width + (index < count % width ? 1 : 0)
            group.addTask { try await sequential(share) }
        }
        return try await group.reduce(0, +)
    }
}

@Sendable func download(isSlow: Bool) async throws -> Int64 {
    let response = try await client.execute(HTTPClientRequest(url: url), timeout: .hours(1))
    var bytes: Int64 = 0
    for try await piece in response.body {
        let before = bytes
        bytes += Int64(piece.readableBytes)
        if isSlow, before >> 23 != bytes >> 23 { try await Task.sleep(for: .milliseconds(20)) }
    }
    return bytes
}

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
    let measurement = Measurement()
    try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(words[3])) { file in
        let size = try await file.info().size
        var request = HTTPClientRequest(url: url)
        request.method = .PUT
        request.body = .stream(
            file.readChunks(chunkLength: .kibibytes(256)), length: .known(Int64(size)))
        let response = try await client.execute(request, timeout: .hours(1))
        for try await _ in response.body {}
        measurement.report(requests: 1, bytes: size)
    }
}
try await client.shutdown()
