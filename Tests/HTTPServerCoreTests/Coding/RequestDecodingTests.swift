import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 8.4: Coded content of requests")
struct RequestDecodingTests {
    private static let chunkedHead =
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"

    /// Answers with the size and the first bytes of what it reads.
    private static let sizes = AsyncHandler { request in
        var (count, start) = (0, "")
        for try await piece in request.body {
            if count == 0 { start = String(decoding: piece.prefix(5), as: UTF8.self) }
            count += piece.count
        }
        return Response(.ok, body: .text("\(count) \(start)"))
    }

    private static func send(
        _ handler: any Handler, _ requests: [UInt8]...,
        configuration: ServerConfiguration = .test
    ) async throws -> [ServerAnswer] {
        let client = MemoryConnection(handler, configuration: configuration)
        client.feed(requests.map { .bytes($0) } + [.end])
        return ServerAnswer.all(try await client.closed().output)
    }

    @Test(
        "Handlers read decoded content",
        arguments: [
            ("gzip", ContentCoding.gzip), ("x-gzip", .gzip), ("GZIP", .gzip),
            ("deflate", .deflate), ("identity, gzip", .gzip), ("gzip, ", .gzip),
        ])
    func decoded(_ name: String, _ coding: ContentCoding) async throws {
        let content = try Coded.gzip(Array("hello".utf8), coding)
        let answers = try await Self.send(
            Sample.echo, Coded.post(content, "Content-Encoding: \(name)\r\n"))
        #expect(answers.map(\.text) == ["POST hello"])
    }

    @Test("Identity and an empty field are no coding", arguments: ["identity", "", "Identity"])
    func identity(_ value: String) async throws {
        let answers = try await Self.send(
            Sample.echo, Coded.post(Array("hello".utf8), "Content-Encoding: \(value)\r\n"))
        #expect(answers.map(\.text) == ["POST hello"])
    }

    @Test(
        "A handler that reads decoded content sees neither Content-Encoding nor the coded length",
        arguments: [true, false])
    func hiddenCoding(_ decodes: Bool) async throws {
        let handler = AsyncHandler { request in
            let names = request.fields.map(\.name.text).joined(separator: " ")
            let value = request.fields[.contentEncoding] ?? "-"
            let isThere = request.fields.contains(.contentEncoding)
            let all = request.fields.values(of: .contentEncoding)
            let length = request.contentLength.map { "\($0)" } ?? "-"
            return .text(
                "\(names) \(value) \(isThere) \(all) \(length) \(request.body.codings ?? "-")")
        }
        let client = MemoryConnection(
            handler, configuration: .test { $0.decodesContent = decodes })
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nB: 2\r\n"
                + "Content-Length: 3\r\n\r\nabc")
        let shown =
            decodes
            ? "Host B Content-Length - false [] - gzip"
            : "Host Content-Encoding B Content-Length gzip true [\"gzip\"] 3 -"
        try await client.output("\r\n\r\n\(shown)")
    }

    @Test("The indices of the fields skip hidden lines")
    func hiddenPositions() async throws {
        let handler = AsyncHandler { request in
            let fields = request.fields
            let names = fields.indices.reversed().map { fields[$0].name.text }
            return .text("\(fields.count) \(names.joined(separator: " "))")
        }
        let client = MemoryConnection(
            handler, configuration: .test { $0.decodesContent = true })
        client.send(
            "POST / HTTP/1.1\r\nContent-Encoding: identity\r\nHost: a\r\n"
                + "content-encoding: gzip\r\nB: 2\r\nContent-Length: 3\r\n\r\nabc")
        try await client.output("\r\n\r\n3 Content-Length B Host")
    }

    @Test("Coded content may arrive split at any byte")
    func splits() async throws {
        let text = Coded.text(400)
        let request = Coded.post(try Coded.gzip(Array(text.utf8)))
        let next = Array(Sample.get("/next").utf8)
        for position in 1..<request.count {
            let answers = try await Self.send(
                Sample.echo, Array(request[..<position]), Array(request[position...]) + next)
            #expect(answers.map(\.text) == ["POST " + text, "GET "])
        }
        let client = MemoryConnection(Sample.echo)
        client.feed((request + next).map { .bytes([$0]) } + [.end])
        let answers = ServerAnswer.all(try await client.closed().output)
        #expect(answers.map(\.text) == ["POST " + text, "GET "])
    }

    @Test("Chunked and coded content has its trailers")
    func chunked() async throws {
        let handler = AsyncHandler { request in
            let content = try await request.body.collect()
            let trailers = await request.body.trailers
            return Response(.ok, body: .text("\(content.count) \(trailers["X-Sum"] ?? "-")"))
        }
        let content = try Coded.gzip(Array(Coded.text(3_000).utf8))
        let size = String(content.count, radix: 16)
        let bytes =
            Array((Self.chunkedHead + "\(size)\r\n").utf8) + content
            + Array("\r\n0\r\nX-Sum: 5\r\n\r\n".utf8)
        #expect(try await Self.send(handler, bytes).map(\.text) == ["3000 5"])
    }

    @Test("Empty content with a coding is read as empty")
    func empty() async throws {
        let answers = try await Self.send(
            Sample.echo, Coded.post([]), Array((Self.chunkedHead + "0\r\n\r\n").utf8))
        #expect(answers.map(\.text) == ["POST ", "POST "])
    }

    @Test("Each piece is delivered as soon as it can be decoded")
    func streamsIn() async throws {
        let log = ServerLog<String>()
        let client = MemoryConnection(
            AsyncHandler { request in
                for try await piece in request.body {
                    log.add(String(decoding: piece, as: UTF8.self))
                }
                return Response(.ok, body: .text("end"))
            })
        func chunk(_ bytes: [UInt8]) -> [UInt8] {
            Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
        }
        var encoder = try ContentEncoder(.gzip)
        client.send(Self.chunkedHead)
        for text in ["first", "second"] {
            var coded: [UInt8] = []
            encoder.encode(Array(text.utf8).span, into: &coded)
            encoder.flush(into: &coded)
            client.feed([.bytes(chunk(coded))])
            #expect(await log.first() == text)
        }
        var coded: [UInt8] = []
        encoder.finish(into: &coded)
        client.feed([.bytes(chunk(coded) + Array("0\r\n\r\n".utf8))])
        try await client.output(Sample.ok("end"))
    }

    @Test(
        "Content can be read in its coded form, by the handler or by configuration",
        arguments: [true, false])
    func raw(_ decodes: Bool) async throws {
        let handler = AsyncHandler { request in
            let body = decodes ? request.body.raw : request.body
            return Response(.ok, body: .bytes(try await body.collect()))
        }
        let content = try Coded.gzip(Array("hello".utf8))
        for coding in ["gzip", "br"] {
            let answers = try await Self.send(
                handler, Coded.post(content, "Content-Encoding: \(coding)\r\n"),
                configuration: .test { $0.decodesContent = decodes })
            #expect(answers.map(\.content) == [content])
        }
    }

    // MARK: Refused content

    @Test(
        "15.5.16: An unknown coding is 415, with the known codings in Accept-Encoding",
        arguments: ["br", "zstd", "gzip, gzip", "br, gzip", "compress", "gzip gzip", "\"gzip\""])
    func unknown(_ value: String) async throws {
        let request = Coded.post(Array("abc".utf8), "Content-Encoding: \(value)\r\n")
        let answers = try await Self.send(Sample.echo, request, Array(Sample.get("/n").utf8))
        // Short content is read and discarded, and the connection persists.
        #expect(answers.map(\.status) == [415, 200])
        #expect(answers[0]["Accept-Encoding"] == "gzip, deflate")
        #expect(answers[0]["Connection"] == nil)
    }

    @Test("415 is sent instead of 100 and closes the connection, because content may follow or not")
    func noContinue() async throws {
        let client = MemoryConnection(Sample.echo)
        client.send(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Encoding: br\r\n"
                + "Expect: 100-continue\r\n\r\n", "abc" + Sample.get("/smuggled"))
        client.end()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.status) == [415])
        #expect(record.count(of: "HTTP/1.1") == 1)
        #expect(record.text.contains(Sample.close))
    }

    @Test("Long content of an unknown coding closes the connection")
    func unknownAndLong() async throws {
        let request = Coded.post(
            [UInt8](repeating: 0x61, count: 100_000), "Content-Encoding: br\r\n")
        let client = MemoryConnection(Sample.echo)
        client.feed([.bytes(Array(request[..<1_000]))])
        try await client.output("HTTP/1.1 415 ")
        client.feed([.bytes(request[1_000...] + Array(Sample.get("/smuggled").utf8)), .end])
        await client.settle()
        await client.expire()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.status) == [415])
        #expect(record.text.contains(Sample.close))
    }

    @Test("An unknown or invalid coding does not matter to a handler that does not read content")
    func unread() async throws {
        let answers = try await Self.send(
            Sample.target, Coded.post([1, 2, 3], "Content-Encoding: br\r\n"),
            Coded.post([1, 2, 3]))
        #expect(answers.map(\.status) == [200, 200])
    }

    @Test(
        "Invalid coded content is 400 and the connection persists",
        arguments: ["head", "data", "check"])
    func broken(_ place: String) async throws {
        var content = try Coded.gzip(Array(Coded.text(2_000).utf8))
        let index = ["head": 0, "data": 12, "check": content.count - 5][place] ?? 0
        content[index] ^= 0xFF
        let answers = try await Self.send(
            Self.sizes, Coded.post(content), Array(Sample.get("/next").utf8))
        #expect(answers.map(\.status) == [400, 200])
    }

    @Test("Coded content that is truncated, or has bytes after its end, is 400")
    func ends() async throws {
        let content = try Coded.gzip(Array(Coded.text(2_000).utf8))
        for cut in [1, 5, 10, content.count / 2, content.count - 1] {
            let answers = try await Self.send(Self.sizes, Coded.post(Array(content[..<cut])))
            #expect(answers.map(\.status) == [400])
        }
        for tail in [[0], Array("abc".utf8)] {
            let answers = try await Self.send(Self.sizes, Coded.post(content + tail))
            #expect(answers.map(\.status) == [400])
        }
    }

    @Test("Truncated content makes reading fail, and the error is final")
    func truncated() async throws {
        let log = ServerLog<String>()
        let handler = AsyncHandler { request in
            do {
                for try await _ in request.body {}
                log.add("whole")
            } catch {
                log.add("\((error as? CodecError)?.kind.rawValue ?? "\(error)")")
                // An error is final.
                do { _ = try await request.body.collect() } catch { log.add("again") }
            }
            return Response(.ok)
        }
        let content = try Coded.gzip(Array(Coded.text(2_000).utf8))
        _ = try await Self.send(handler, Coded.post(content.dropLast(9)))
        #expect(log.entries == ["truncated", "again"])
        let client = MemoryConnection(handler)
        client.feed([.bytes(Coded.post(content).dropLast(9)), .end])
        try await client.closed()
        #expect(await log.first() == "truncated")
        #expect(await log.first() == "again")
        #expect(await log.first() == "connectionLost")
    }

    // MARK: Limits

    /// So many zeros, which gzip shortens to a thousandth.
    private static func bomb(_ bytes: Int) throws -> [UInt8] {
        try Coded.gzip([UInt8](repeating: 0, count: bytes))
    }

    @Test(
        "The content limit applies to the coded and to the decoded form",
        arguments: [(2_000, 200), (2_001, 413)])
    func contentLimit(_ count: Int, _ status: Int) async throws {
        let content = try Coded.gzip(Array(Coded.text(count).utf8))
        let limited = ServerConfiguration.test { $0.contentLimit = 2_000 }
        let answers = try await Self.send(Self.sizes, Coded.post(content), configuration: limited)
        #expect(answers.map(\.status) == [status])
        let short = ServerConfiguration.test { $0.contentLimit = Int64(content.count - 1) }
        let refused = try await Self.send(Self.sizes, Coded.post(content), configuration: short)
        #expect(refused.map(\.status) == [413])
    }

    @Test(
        "A handler's limit applies to the decoded content", arguments: [(1_000, 200), (999, 413)])
    func collectLimit(_ limit: Int, _ status: Int) async throws {
        let handler = AsyncHandler { request in
            Response(.ok, body: .text("\(try await request.body.collect(upTo: limit).count)"))
        }
        // Noise gets longer: the announced length says nothing about the limit.
        for content in [Coded.noise(1_000), Array(Coded.text(1_000).utf8)] {
            let answers = try await Self.send(handler, Coded.post(try Coded.gzip(content)))
            #expect(answers.map(\.status) == [status])
        }
    }

    @Test(
        "Above 1 MiB content may expand a hundredfold at most",
        arguments: [(1 << 20, 200), (2 << 20, 413)])
    func ratio(_ count: Int, _ status: Int) async throws {
        let answers = try await Self.send(Self.sizes, Coded.post(try Self.bomb(count)))
        #expect(answers.map(\.status) == [status])
        let generous = ServerConfiguration.test { $0.contentExpansionLimit = 2_000 }
        let taken = try await Self.send(
            Self.sizes, Coded.post(try Self.bomb(count)), configuration: generous)
        #expect(taken.map(\.text) == ["\(count) \0\0\0\0\0"])
    }

    @Test("A decompression bomb is refused early, and its sender can read the response")
    func bombIsRefused() async throws {
        let log = ServerLog<Int>()
        let handler = AsyncHandler { request in
            for try await piece in request.body { log.add(piece.count) }
            return Response(.ok)
        }
        let request = Coded.post(try Self.bomb(200 << 20))
        let client = MemoryConnection(handler)
        client.feed([.bytes(Array(request[..<10_000]))])
        try await client.output("HTTP/1.1 413 ")
        client.feed([.bytes(request[10_000...] + Array(Sample.get("/smuggled").utf8)), .end])
        await client.settle()
        await client.expire()
        let record = try await client.closed()
        #expect(ServerAnswer.all(record.output).map(\.status) == [413])
        #expect(record.text.contains(Sample.close))
        #expect(log.entries.reduce(0, +) <= 1 << 20)
        #expect(log.entries.max() ?? 0 <= 64 << 10)
    }

    @Test("A slow handler applies back-pressure to the client")
    func backPressure() async throws {
        let gate = ServerGate()
        let handler = AsyncHandler { request in
            var count = 0
            for try await piece in request.body {
                if count == 0 { await gate.wait() }
                count += piece.count
            }
            return Response(.ok, body: .text("\(count)"))
        }
        let content = try Coded.gzip(Coded.noise(2_000_000))
        let request = Coded.post(content)
        let client = MemoryConnection(handler)
        client.feed(
            stride(from: 0, to: request.count, by: 50_000).map {
                .bytes(Array(request[$0..<min($0 + 50_000, request.count)]))
            })
        await client.settle()
        #expect(client.record.received < 600_000)
        gate.open()
        try await client.output(Sample.ok("2000000"))
    }
}
