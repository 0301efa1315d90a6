import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 12.5.3: Negotiation of gzip")
struct AcceptedCodingTests {
    private static let text = Coded.text(4_000)
    private static let handler = CompressionHandler(
        SyncHandler { _ in Response(.ok, body: .text(text)) })

    @Test(
        "Gzip is sent to clients that prefer it at least as much as no coding",
        arguments: [
            ("gzip", true), ("x-gzip", true), ("GZip", true), ("gzip, deflate, br, zstd", true),
            ("br,gzip", true), ("*", true), ("gzip;q=0.001", true), ("gzip;q=1, *;q=0", true),
            ("gzip;q=0.5, identity;q=0.5", true), ("identity;q=0, gzip", true),
            ("deflate, *;q=0.1", true), ("gzip ; q=0.3 ,br", true),
            ("", false), ("identity", false), ("deflate", false), ("br, zstd", false),
            ("gzip;q=0", false), ("gzip;q=0.000", false), ("*;q=0", false),
            ("gzip;q=0, *", false), ("gzip;q=0.5, identity;q=0.8", false),
            ("gzip;q=0.5, identity", false), ("gzipped", false), ("gzi", false),
            // An invalid list accepts no coding.
            ("gzip;q=2", false), ("gzip;q=", false), ("gzip deflate", false), ("\"gzip\"", false),
        ])
    func negotiation(_ value: String, _ isCoded: Bool) async throws {
        let answer = try await Coded.get(Self.handler, "Accept-Encoding: \(value)\r\n")
        #expect(answer.status == 200)
        #expect((answer["Content-Encoding"] == "gzip") == isCoded)
        #expect(try answer.plain == Array(Self.text.utf8))
        #expect(answer["Vary"] == "Accept-Encoding")
        #expect(answer["Content-Length"] == "\(answer.content.count)")
    }

    @Test("Without Accept-Encoding content is not coded, but the response still has Vary")
    func noField() async throws {
        let answer = try await Coded.get(Self.handler, "")
        #expect(answer["Content-Encoding"] == nil)
        #expect(answer.text == Self.text)
        #expect(answer["Vary"] == "Accept-Encoding")
    }

    @Test("Several Accept-Encoding lines are one list")
    func lines() async throws {
        let fields = "Accept-Encoding: br\r\nAccept-Encoding: gzip;q=0.5\r\n"
        #expect(try await Coded.get(Self.handler, fields)["Content-Encoding"] == "gzip")
    }

    @Test(
        "Without an acceptable coding content is sent uncoded, not as 406",
        arguments: ["identity;q=0", "*;q=0", "br, identity;q=0"])
    func nothingFits(_ value: String) async throws {
        let answer = try await Coded.get(Self.handler, "Accept-Encoding: \(value)\r\n")
        #expect(answer.status == 200)
        #expect(answer.text == Self.text)
    }

    @Test("A client that refuses identity gets short content coded, too")
    func gzipOnly() async throws {
        let handler = CompressionHandler(
            SyncHandler { _ in Response(.ok, body: .text(String(repeating: "a", count: 200))) })
        let usual = try await Coded.get(handler)
        #expect(usual["Content-Encoding"] == nil)
        let answer = try await Coded.get(handler, "Accept-Encoding: gzip, identity;q=0\r\n")
        #expect(answer["Content-Encoding"] == "gzip")
        #expect(try answer.plain == Array(repeating: 0x61, count: 200))
    }
}
