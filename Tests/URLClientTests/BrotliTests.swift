import HTTPCodecs
import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

@Suite("RFC 7932: Brotli, if its library is installed", .timeLimit(.minutes(2)))
struct BrotliTests {
    /// The lines `line 0 of a log` to `line 299 of a log`, compressed by Node's zlib.
    private static let coded = bytes(
        "G6kU+BwJNk52TXoWopl0SvqAuZVhWG+dvSWIghlF7Vx/Fg8zjDV71XrAAjSZ3IFfvfv8hSBKsqLWaHU7ygpJimbY",
        "HK4uWQRJ0Qybw9WliiApmmFzuLp0ESRFM2wOV5cpgqRohs3h6rKLICmaYXO4upwiSIpm2ByuLrcIkqIZNoeryyuC",
        "pGiGzeE+5vfSMC3bcXu8vEYZpmU7bo+X1yzDtGzH7fHyWmWYlu24PV5euwzTsh23x8vrlGFatuP2eHndZZiW7bg9",
        "Xl5PGaZlO26Pl9dbhmnZjtvj5fWVYVq24/Z4dWdWGaZlO26Pl9cow7Rsx+3x8pplmJbtuD1eXqsM07Idt8fLa5dh",
        "Wrbj9nh5nTJMy3bcHi+vuwzTsh23x8vrKcO0bMft8fJ6yzAt23F7vLy+MkzLdtwe7zg=")
    private static let plain = (0..<300).flatMap { Array("line \($0) of a log\n".utf8) }
    /// 48 MiB of zeros, and 100,000 zeros.
    private static let bomb = bytes("z///f/gnAOKxQCD3/p/////wTwDEYQGA7v1//v//458AiMMiAN37fw==")
    private static let zeros = bytes("W5+GgX8CIB4LBLL8AgA=")

    private static func bytes(_ lines: String...) -> [UInt8] {
        Base64.decode(Array(lines.joined().utf8)) ?? []
    }

    private func decode(
        _ pieces: [ArraySlice<UInt8>], _ limits: ContentDecodingLimits = .init(outputBytes: 1 << 30)
    ) throws(CodecError) -> [UInt8] {
        let decoder = try BrotliDecoder(limits)
        var output: [UInt8] = []
        for piece in pieces { try decoder.decode(Array(piece).span, into: &output) }
        try decoder.finish()
        return output
    }

    private func fault(_ body: () throws(CodecError) -> [UInt8]) -> CodecError.Kind? {
        do throws(CodecError) {
            _ = try body()
            return nil
        } catch {
            return error.kind
        }
    }

    @Test("Content is decoded whole, split at every position, and byte by byte")
    func cuts() throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        let coded = Self.coded
        #expect(coded.count == 314 && Self.plain.count == 5_290)
        for cut in 0...coded.count {
            #expect(try decode([coded[..<cut], coded[cut...]]) == Self.plain)
        }
        #expect(try decode(coded.indices.map { coded[$0...$0] }) == Self.plain)
        #expect(try decode([Self.zeros[...]]) == [UInt8](repeating: 0, count: 100_000))
    }

    @Test("Truncation, trailing bytes, most damaged bytes and too large a window are errors")
    func faults() throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        let coded = Self.coded
        for end in coded.indices {
            #expect(fault { () throws(CodecError) in try decode([coded[..<end]]) } == .truncated)
        }
        for pieces in [[coded + [0]], [coded, [0]]] {
            let found = fault { () throws(CodecError) in try decode(pieces.map { $0[...] }) }
            #expect(found == .trailingGarbage)
        }
        // Without a checksum some damage decodes to other text; none of it may do harm.
        var refused = 0
        for index in coded.indices {
            var broken = coded
            broken[index] ^= 0xFF
            let limits = ContentDecodingLimits(outputBytes: 100_000)
            if fault({ () throws(CodecError) in try decode([broken[...]], limits) }) != nil {
                refused += 1
            }
        }
        #expect(refused > 200)
        // A window above the format's 16 MiB is refused.
        let large = fault { () throws(CodecError) in try decode([[0x11, 0x1E, 0, 0, 0, 0]]) }
        #expect(large == .invalidCompressedData)
    }

    @Test(
        "The length limit is exact, and the ratio limit applies above its floor",
        arguments: [1, 7, 40])
    func limits(_ size: Int) throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        func pieces(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
            stride(from: 0, to: bytes.count, by: size).map { bytes[$0...].prefix(size) }
        }
        func fault(_ bytes: [UInt8], _ limits: ContentDecodingLimits) -> CodecError.Kind? {
            self.fault { () throws(CodecError) in try decode(pieces(bytes), limits) }
        }
        for (limit, wanted) in [
            (5_289, CodecError.Kind.outputTooLong), (5_290, nil), (5_291, nil), (0, .outputTooLong),
        ] {
            #expect(fault(Self.coded, .init(outputBytes: Int64(limit))) == wanted, "\(limit)")
        }
        for (limit, wanted) in [(99_999, CodecError.Kind.outputTooLong), (100_000, nil)] {
            let limits = ContentDecodingLimits(outputBytes: Int64(limit), ratio: 1 << 20)
            #expect(fault(Self.zeros, limits) == wanted, "\(limit)")
        }
        #expect(fault(Self.bomb, .init(outputBytes: 1 << 30)) == .ratioTooHigh)
        #expect(fault(Self.bomb, .init(outputBytes: 1 << 20, ratio: 1 << 30)) == .outputTooLong)
        #expect(fault(Self.bomb, .init(outputBytes: 48 << 20, ratio: 1 << 30)) == nil)
        // Below the floor the ratio does not matter.
        #expect(fault(Self.bomb, .init(outputBytes: 1 << 30, ratioFloor: 48 << 20)) == nil)
    }

    // MARK: over the wire

    private func peer(_ field: String, _ content: [UInt8], _ heads: Locked<[String]>) throws
        -> ScriptedPeer
    {
        try ScriptedPeer { connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                connection.send(
                    Array(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: \(field)\r\nContent-Length: \(content.count)\r\n\r\n"
                            .utf8) + content)
            }
        }
    }

    @Test(
        "br is requested and decoded, as the only coding and below gzip", arguments: ["br", "BR"])
    func decoded(_ field: String) async throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        let heads = Locked([String]())
        let peer = try peer(field, Self.coded, heads)
        let session = ClientSession(.ephemeral)
        let (content, response) = try await session.data(for: ClientRequest(.get, peer.url()))
        #expect(content == Self.plain && response.status == .ok)
        #expect(heads.withLock { $0[0].contains("\r\nAccept-Encoding: gzip, deflate, br\r\n") })
        let twice = try Self.coded.gzipped()
        let other = try self.peer("\(field), gzip", twice, heads)
        #expect(try await session.data(for: ClientRequest(.get, other.url())).0 == Self.plain)
    }

    @Test("httpbin's /brotli is decoded, as data and as a download that requests br")
    func bin() async throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        struct Answer: Decodable { var brotli: Bool }
        let bin = try await BinServer()
        let content = try await bin.send(.get, "/brotli").content
        #expect(try JSONBody().decode(Answer.self, from: content).brotli)
        let path = TemporaryPath()
        _ = try await bin.session.download(
            for: bin.request(.get, "/brotli", fields: [.acceptEncoding: "br"]), to: path.text)
        let file = try #require(Files.read(path.text))
        #expect(try JSONBody().decode(Answer.self, from: file).brotli)
    }

    @Test("Without decoding, in the session or a request, br is neither requested nor decoded")
    func off() async throws {
        let heads = Locked([String]())
        let peer = try peer("br", Self.coded, heads)
        var configuration = ClientConfiguration.ephemeral
        configuration.decodesContent = false
        var request = ClientRequest(.get, peer.url())
        #expect(try await ClientSession(configuration).data(for: request).0 == Self.coded)
        request.decodesContent = false
        #expect(try await ClientSession(.ephemeral).data(for: request).0 == Self.coded)
        #expect(heads.withLock { $0.count == 2 && !$0.contains { $0.contains("Accept-Encoding") } })
    }

    @Test("Truncated content, trailing bytes and a decompression bomb are errors")
    func refused() async throws {
        try FullSuite.require("libbrotlidec", isThere: BrotliDecoder.isAvailable)
        let heads = Locked([String]())
        for (content, wanted) in [
            (Array(Self.coded.dropLast()), ClientError.Kind.truncated),
            (Self.coded + [0], .decodingFailed), (Self.bomb, .decodingFailed),
        ] {
            let peer = try peer("br", content, heads)
            let error = await failure {
                try await ClientSession(.ephemeral).data(for: ClientRequest(.get, peer.url()))
            }
            #expect(error?.kind == wanted)
        }
    }
}
