import Foundation
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

@Suite("httpkit fetch -T --resume: refusals", .fewAtOnce, .timeLimit(.minutes(3)))
struct UploadRefusalTests {
    /// The exit status of a call, and its requests.
    private struct Sent: Equatable {
        var status: CInt
        var requests: [String]
    }

    /// A server of resumable uploads that has five bytes of its only upload.
    private final class Site: Sendable {
        let server: HTTPServer
        /// The response to the complete upload.
        let answer = Locked(Response(.tooManyRequests))
        let seen = Locked([String]())

        init() async throws {
            let (answer, seen) = (answer, seen)
            let resumable = try #require(HTTPStatus(104))
            let handler = AsyncHandler { request in
                let (method, target) = (request.method, request.target.text)
                seen.withLock { $0.append("\(method) \(target)") }
                if method == .head {
                    return Response(
                        .noContent, fields: ["Upload-Offset": "5", "Upload-Complete": "?0"])
                }
                if target == "/a" {
                    try await request.sendInterim(
                        resumable,
                        fields: ["Upload-Draft-Interop-Version": "8", "Location": "/up/1"])
                }
                for try await _ in request.body {}
                return target == "/other" ? Response(.forbidden) : answer.withLock { $0 }
            }
            server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: 0), handler: handler)
            try await server.start()
        }

        func send(_ file: String, to path: String) async throws -> Sent {
            let port = try #require(server.addresses.first?.port)
            seen.withLock { $0 = [] }
            let result = try await Program.run(
                Program.httpkit,
                ["fetch", "-T", file, "--resume", "http://127.0.0.1:\(port)\(path)"])
            return Sent(status: result.status, requests: seen.withLock { $0 })
        }
    }

    private static let resumed = ["HEAD /up/1", "PATCH /up/1"]

    @Test("The resume file is kept after a refusal of any upload, and removed at the end")
    func note() async throws {
        let (site, place) = (try await Site(), try Folder())
        try place.write([UInt8].noise(1_000, seed: 21), to: "data")
        let data = place.path + "/data"
        func isNoted() -> Bool { FileManager.default.fileExists(atPath: data + ".resume") }
        #expect(try await site.send(data, to: "/a") == Sent(status: 22, requests: ["PUT /a"]))
        #expect(isNoted())
        #expect(
            try await site.send(data, to: "/other") == Sent(status: 22, requests: ["PUT /other"]))
        #expect(isNoted())
        #expect(try await site.send(data, to: "/a") == Sent(status: 22, requests: Self.resumed))
        #expect(isNoted())
        site.answer.withLock { $0 = Response(.created, fields: ["Upload-Complete": "?1"]) }
        #expect(try await site.send(data, to: "/a") == Sent(status: 0, requests: Self.resumed))
        #expect(!isNoted())
        await site.server.shutdown()
    }

    @Test("An error that ends the upload removes the resume file")
    func finalError() async throws {
        let (site, place) = (try await Site(), try Folder())
        try place.write([UInt8].noise(1_000, seed: 22), to: "data")
        site.answer.withLock { $0 = Response(.conflict, fields: ["Upload-Complete": "?1"]) }
        #expect(
            try await site.send(place.path + "/data", to: "/a")
                == Sent(status: 22, requests: ["PUT /a"]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["data"])
        await site.server.shutdown()
    }
}
