import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import URLClient

@testable import httpkit

@Suite("Forms as request content")
struct ClientFormTests {
    /// Sends content to `/post`, and returns the JSON of the response.
    private static func echo(_ body: ClientBody) async throws -> JSONValue {
        let server = HTTPServer(
            ServerConfiguration(host: "127.0.0.1", port: 0), handler: BinRouter())
        try await server.start()
        let port = server.addresses.first?.port ?? 0
        let session = ClientSession()
        let (content, response) = try await session.data(
            for: ClientRequest(.post, "http://127.0.0.1:\(port)/post", body: body))
        await server.shutdown()
        #expect(response.status == .ok)
        guard let json = JSONValue(parsing: content), case .object(let members) = json else {
            throw Program.Failure("no JSON: \(String(decoding: content, as: UTF8.self))")
        }
        return .object(members)
    }

    private static func member(_ json: JSONValue, _ name: String) -> JSONValue? {
        guard case .object(let members) = json else { return nil }
        return members[JSONName(name)]
    }

    @Test("RFC 7578: texts, bytes and files are sent with a Content-Length")
    func multipart() async throws {
        let folder = try ServerDirectory()
        try folder.write("notes.txt", "from a file")
        var form = ClientForm()
        try form.append("title", "Grüße")
        try form.append("memory", fileName: "m.txt", bytes: Array("from memory".utf8))
        try form.append("disk", file: folder.path("notes.txt"))
        let body = ClientBody.multipart(form)
        #expect(body.length != nil && body.isReplayable)
        let json = try await Self.echo(body)
        #expect(Self.member(json, "form") == .object(["title": "Grüße"]))
        #expect(
            Self.member(json, "files")
                == .object(["memory": "from memory", "disk": "from a file"]))
        let fields = Self.member(json, "headers").flatMap { Self.member($0, "Content-Length") }
        #expect(fields == body.length.map { .text("\($0)") })
    }

    @Test("A large file arrives complete")
    func large() async throws {
        let folder = try ServerDirectory()
        let text = String(repeating: "0123456789abcdef", count: 40_000)
        try folder.write("large.txt", text)
        var form = ClientForm()
        try form.append("large", file: folder.path("large.txt"), fileName: "x.txt")
        let json = try await Self.echo(.multipart(form))
        #expect(Self.member(json, "files") == .object(["large": .text(text)]))
    }

    @Test("Adding a missing file is an error")
    func missing() {
        var form = ClientForm()
        #expect(throws: ClientError.self) { try form.append("a", file: "/nothing/of/that/name") }
    }

    @Test("URL-encoded pairs and JSON arrive with their values")
    func others() async throws {
        let pairs = try await Self.echo(.urlEncoded(["a": "1", "b": "x y&z"]))
        #expect(Self.member(pairs, "form") == .object(["a": "1", "b": "x y&z"]))
        let json = try await Self.echo(.json(["a": [1, 2]]))
        #expect(Self.member(json, "json") == .object(["a": .list([.integer(1), .integer(2)])]))
    }
}
