import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("Responses", .timeLimit(.minutes(2)))
struct ResponseTests {
    /// Responds to the first request of each connection with fixed bytes, and closes.
    private func peer(_ answer: String) throws -> ScriptedPeer {
        try peer(Array(answer.utf8))
    }

    private func peer(_ answer: [UInt8]) throws -> ScriptedPeer {
        try ScriptedPeer { connection in
            guard connection.head() != nil else { return }
            connection.send(answer)
        }
    }

    @Test(
        "D22, S: Unusual but valid heads are accepted",
        arguments: [
            ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, ""),
            ("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", 200, ""),
            ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "OK"),
            ("HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok", 999, "Odd"),
            ("HTTP/1.0 200 OK\r\n\r\nok", 200, "OK"),
            ("HTTP/1.1 200 A b  c\r\ncontent-length:2\r\n\r\nok", 200, "A b  c"),
        ])
    func oddHeads(_ answer: String, _ status: Int, _ reason: String) async throws {
        let peer = try peer(answer)
        let (content, response) = try await ClientSession().data(
            for: ClientRequest(.get, peer.url()))
        #expect(content == Array("ok".utf8))
        #expect(Int(response.status.code) == status)
        #expect(response.reasonPhrase == reason)
    }

    @Test("D22, S: bytes beyond ASCII in a field are Latin-1, unless they are UTF-8")
    func fieldBytes() async throws {
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ".utf8)
        let peer = try peer(head + [0x67, 0xFC] + Array("\r\nY: gü\r\n\r\n".utf8))
        let (_, response) = try await ClientSession().data(for: ClientRequest(.get, peer.url()))
        #expect(response.fields["X"] == "gü")
        #expect(response.fields["Y"] == "gü")
    }

    @Test("S: Fields after chunked content are trailers")
    func trailers() async throws {
        let peer = try peer(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nDigest: x\r\n\r\n"
        )
        let (content, response) = try await ClientSession().data(
            for: ClientRequest(.get, peer.url()))
        #expect(content == Array("ok".utf8))
        #expect(response.trailers["digest"] == "x")
        #expect(response.fields["digest"] == nil)
        let (stream, _) = try await ClientSession().bytes(for: ClientRequest(.get, peer.url()))
        #expect(try await stream.collect(upTo: 10) == Array("ok".utf8))
        #expect(stream.trailers["digest"] == "x")
    }

    @Test("S: Interim responses are reported before the response")
    func interim() async throws {
        let peer = try peer(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let delegate = Recorder()
        let (_, response) = try await ClientSession().data(
            for: ClientRequest(.get, peer.url()), delegate: delegate)
        #expect(response.interim.map(\.status.code) == [100, 103])
        #expect(response.interim.last?.fields[.link] == "</a>")
        #expect(response.status == .ok)
        await delegate.wait { $0.last == "complete" }
        #expect(delegate.log == ["interim 100", "interim 103", "metrics", "complete"])
    }

    @Test(
        "An incomplete or invalid response is an error",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", ClientError.Kind.truncated, 18),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", .truncated, 18),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
                .badResponse, 8
            ),
            ("SSH-2.0-OpenSSH\r\n", .badResponse, 1),
            ("ok", .badResponse, 1),
            ("<html>\nold\n</html>\n", .badResponse, 1),
            ("HTTP/7.3 200 OK\r\nContent-Length: 2\r\n\r\nok", .badResponse, 1),
            ("HTTP/1.1 200 OK\r\nContent-Le", .truncated, 18),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", .truncated, 18),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok", .badResponse, 8),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok", .badResponse, 8),
            ("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", .badResponse, 8),
            ("", .emptyResponse, 52),
            // Fields whose names look like a status line.
            (
                "HTTP/1.1 404 No\r\nA: b\r\nHTTP/1.1: 200 x\r\nContent-Length: 2\r\n\r\nok",
                .badResponse, 8
            ),
            ("HTTP/1.1 200 OK\r\nHTTP/1.1: 103 x\r\nContent-Length: 2\r\n\r\nok", .badResponse, 8),
        ])
    func broken(_ answer: String, _ kind: ClientError.Kind, _ exitCode: Int32) async throws {
        let peer = try peer(answer)
        let error = await failure {
            try await ClientSession().data(for: ClientRequest(.get, peer.url()))
        }
        #expect(error?.kind == kind, "\(error?.description ?? "-")")
        #expect(error?.url != nil)
        #expect(error?.isSafeToRetry == false)
    }

    @Test("A head above the limit is an error")
    func headLimit() async throws {
        let field = "X: \(String(repeating: "x", count: 1_000))\r\n"
        let fields = String(repeating: field, count: 90)
        let endless = String(repeating: "HTTP/1.1 103 Early Hints\r\n\(field)\r\n", count: 200)
        for answer in ["HTTP/1.1 200 OK\r\n\(fields)\(fields)\r\n", endless] {
            let peer = try peer(answer)
            let error = await failure {
                try await ClientSession().data(for: ClientRequest(.get, peer.url()))
            }
            #expect(error?.kind == .headTooLong, "\(error?.description ?? "-")")
        }
        let peer = try peer("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok")
        _ = try await ClientSession().data(for: ClientRequest(.get, peer.url()))
    }

    @Test("Content above the limit is an error", arguments: [1, 2, 3])
    func contentLimit(_ limit: Int64) async throws {
        let peer = try peer("HTTP/1.1 200 OK\r\n\r\nok")
        var request = ClientRequest(.get, peer.url())
        request.contentLimit = limit
        let error = await failure { [request] in try await ClientSession().data(for: request) }
        #expect(error?.kind == (limit < 2 ? .contentTooLong : nil))
    }

    @Test(
        "S9: Content collected in memory has a limit, with and without an announced length",
        arguments: [false, true])
    func collectLimit(announced: Bool) async throws {
        let length = announced ? "Content-Length: 30000\r\n" : ""
        let content = String(repeating: "x", count: 30_000)
        let peer = try peer("HTTP/1.1 200 OK\r\n\(length)\r\n\(content)")
        for (limit, kind) in [(Int64(30_000), nil), (29_999, ClientError.Kind.contentTooLong)] {
            var configuration = ClientConfiguration.ephemeral
            configuration.collectLimit = limit
            let session = ClientSession(configuration)
            let error = await failure {
                try await session.data(for: ClientRequest(.get, peer.url()))
            }
            #expect(error?.kind == kind)
            // Streamed content has no such limit.
            let (stream, _) = try await session.bytes(for: ClientRequest(.get, peer.url()))
            #expect(try await stream.collect(upTo: 30_000).count == 30_000)
        }
    }

    @Test("gzip is decoded within limits; above them, or truncated, it is an error")
    func decoding() async throws {
        for (plain, kind) in [
            (TestServer.pattern(100_000), nil),
            ([UInt8](repeating: 0, count: 40 << 20), ClientError.Kind.decodingFailed),
        ] {
            var encoder = try ContentEncoder(.gzip, level: 6)
            var coded: [UInt8] = []
            encoder.encode(plain.span, into: &coded)
            encoder.finish(into: &coded)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "
            let peer = try peer(Array("\(head)\(coded.count)\r\n\r\n".utf8) + coded)
            do {
                let (content, _) = try await ClientSession().data(
                    for: ClientRequest(.get, peer.url()))
                #expect(content.elementsEqual(plain))
                #expect(kind == nil)
            } catch {
                #expect(error.kind == kind)
            }
        }
        let peer = try peer(
            Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8) + [0x1F, 0x8B, 8])
        let error = await failure {
            try await ClientSession().data(for: ClientRequest(.get, peer.url()))
        }
        #expect(error?.kind == .truncated)
        #expect(error?.phase == .receiving)
    }

    @Test(
        "Content-Encoding without content is accepted: HEAD, 304 and empty content",
        arguments: [
            (HTTPMethod.head, "200 OK\r\nContent-Length: 500\r\n"), (.head, "200 OK\r\n"),
            (.get, "304 Not Modified\r\n"), (.get, "200 OK\r\nContent-Length: 0\r\n"),
        ])
    func codedNothing(_ method: HTTPMethod, _ head: String) async throws {
        let peer = try peer("HTTP/1.1 \(head)Content-Encoding: gzip\r\n\r\n")
        let (content, response) = try await ClientSession(.ephemeral).data(
            for: ClientRequest(method, peer.url()))
        #expect(content.isEmpty && response.fields[.contentEncoding] == "gzip")
    }

    @Test("A decoding error is reported in the receiving phase")
    func decodingPhase() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n"
        let peer = try peer(head + "no zip")
        let error = await failure {
            try await ClientSession().data(for: ClientRequest(.get, peer.url()))
        }
        #expect(error?.kind == .decodingFailed)
        #expect(error?.phase == .receiving)
        #expect(error?.isSafeToRetry == false)
    }

    @Test("D21: Errors describe the failure in words and codes")
    func errorText() async throws {
        let port = PeerServer.deadPort
        let error = try #require(
            await failure {
                try await ClientSession().data(
                    for: ClientRequest(.get, "http://127.0.0.1:\(port)/"))
            })
        #expect(error.kind == .cannotConnect)
        #expect(error.urlErrorCode == -1004)
        #expect(error.exitCode == 7)
        #expect(error.phase == .connecting)
        #expect(error.isSafeToRetry)
        #expect(error.message.contains("refused"))
        #expect(error.description.contains("127.0.0.1"))
    }

    @Test("Errors report the phase, and the numbers of bytes sent and received")
    func errorProgress() async throws {
        let peer = try ScriptedPeer { connection in
            guard let head = connection.head() else { return }
            if head.hasPrefix("PUT") {
                _ = connection.content(100_000)
            } else {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            }
            connection.finish()
        }
        let session = ClientSession(.ephemeral)
        let size = 64 << 20
        var request = ClientRequest(
            .put, peer.url(), body: .bytes([UInt8](repeating: 1, count: size)))
        request.expectation = .never
        let sending = await failure { [request] in try await session.data(for: request) }
        #expect(sending?.kind == .connectionLost || sending?.kind == .emptyResponse)
        #expect(sending?.phase == .sending && sending?.isSafeToRetry == false)
        #expect((100_000..<Int64(size)).contains(sending?.bytesSent ?? 0))
        #expect(sending?.bytesReceived == 0)
        let receiving = await failure {
            try await session.data(for: ClientRequest(.get, peer.url()))
        }
        #expect(receiving?.kind == .truncated && receiving?.phase == .receiving)
        #expect(receiving?.bytesSent == 0 && receiving?.bytesReceived == 4)
    }

    @Test(
        "Invalid URLs and URLs of other schemes are refused",
        arguments: [
            ("http://127.0.0.1:-1/", ClientError.Kind.badURL, -1000),
            ("ftp://127.0.0.1/", .unsupportedURL, -1002),
            ("not a url at all", .unsupportedURL, -1002),
        ])
    func badURL(_ url: String, _ kind: ClientError.Kind, _ code: Int) async {
        let error = await failure {
            try await ClientSession().data(for: ClientRequest(.get, url))
        }
        #expect(error?.kind == kind && error?.urlErrorCode == code, "\(error?.description ?? "-")")
    }

    @Test("A field with a line break, and GET with content, are refused")
    func badRequests() async throws {
        let peer = try peer("HTTP/1.1 200 OK\r\n\r\n")
        let session = ClientSession()
        var request = ClientRequest(.get, peer.url(), fields: ["X": "a\r\nY: b"])
        let split = request
        #expect(await failure { try await session.data(for: split) }?.kind == .badRequest)
        request = ClientRequest(.get, peer.url(), body: .text("content"))
        let withContent = request
        let error = await failure { try await session.data(for: withContent) }
        #expect(error?.kind == .contentNotAllowed)
        #expect(error?.urlErrorCode == -1103)
        #expect(peer.connectionCount == 0)
    }
}
