import Foundation
import TestSupport
import Testing

/// The response of `--echo`; its names are a contract.
struct Echo: Decodable {
    var method: String
    var target: String
    var version: String
    var fields: [[String]]
    var content: Data
    var trailers: [[String]]
    var peer: String

    init(_ json: [UInt8]) throws {
        self = try JSONDecoder().decode(Echo.self, from: Data(json))
    }

    subscript(name: String) -> String? {
        fields.first { $0.first?.lowercased() == name }?.last
    }
}

@Suite("RFC 9112 sections 6 and 7: uploads by curl", .fewAtOnce, .overTLSToo)
struct CurlUploadTests {
    private static let content = [UInt8].noise(3_000_000, seed: 3)

    @Test(arguments: [
        [], ["-H", "Transfer-Encoding: chunked"], ["-0"], ["-H", "Expect:"],
        ["-H", "Expect: 100-continue"],
    ])
    func contentArrivesWhole(_ flags: [String]) async throws {
        let folder = try Folder()
        try folder.write(Self.content, to: "upload")
        let server = try await ServeProcess(folder, ["--echo", "/echo"])
        let result = try await Program.run(
            "curl",
            ["-sSv", "-m", "110", "--data-binary", "@\(folder.file("upload").path)"] + flags
                + [server.url("/echo?a=b")])
        let echo = try Echo(result.output)
        #expect(echo.content.elementsEqual(Self.content))
        #expect(echo.method == "POST" && echo.target == "/echo?a=b" && echo.trailers.isEmpty)
        #expect(echo.version == (flags == ["-0"] ? "1.0" : "1.1"))
        #expect(echo.peer.hasPrefix("127.0.0.1:"))
        let isChunked = flags.contains("Transfer-Encoding: chunked")
        #expect(echo["content-length"] == (isChunked ? nil : "3000000"))
        let continues = result.complaints.contains("< HTTP/1.1 100 Continue")
        // In HTTP/1.1, curl expects 100 by default for a megabyte and more.
        #expect(continues == (flags != ["-0"] && flags != ["-H", "Expect:"]))
    }

    @Test func contentThatNobodyTakesIsNotAskedFor() async throws {
        let folder = try Folder()
        try folder.write(Self.content, to: "upload")
        let server = try await ServeProcess(folder)
        let result = try await Program.run(
            "curl",
            ["-sSv", "-m", "110", "-T", folder.file("upload").path, server.url("/new.bin")])
        #expect(result.complaints.contains("< HTTP/1.1 405 "))
        #expect(!result.complaints.contains("100 Continue"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("new.bin").path))
    }

    @Test func contentAboveTheLimitIsRefused() async throws {
        let folder = try Folder()
        try folder.write([UInt8](repeating: 1, count: 1001), to: "upload")
        let server = try await ServeProcess(folder, ["--echo", "/echo", "--max-body", "1000"])
        let data = "@\(folder.file("upload").path)"
        for flags in [[], ["-H", "Transfer-Encoding: chunked"]] {
            let result = try await Program.run(
                "curl",
                ["-sSi", "-m", "110", "--data-binary", data] + flags + [server.url("/echo")])
            #expect(PlainResponse(head: result.text).status == 413)
        }
        let allowed = try await server.curl("--data-binary", "@/dev/null", path: "/echo")
        #expect(try Echo(allowed.output).content.isEmpty)
    }
}
