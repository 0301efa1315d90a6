import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

/// Content and codings for the suites of this folder.
enum Coded {
    static func gzip(_ content: [UInt8], _ coding: ContentCoding = .gzip) throws -> [UInt8] {
        var encoder = try ContentEncoder(coding)
        var coded: [UInt8] = []
        encoder.finish(content.span, into: &coded)
        return coded
    }

    static func gunzip(_ coded: [UInt8]) throws -> [UInt8] {
        var decoder = try ContentDecoder(
            .gzip, limits: ContentDecodingLimits(outputBytes: 1 << 30, ratio: 10_000))
        var content: [UInt8] = []
        try decoder.decode(coded.span, into: &content)
        try decoder.finish(into: &content)
        return content
    }

    /// Lines that compress about as well as ordinary text.
    static func text(_ count: Int, seed: UInt64 = 1) -> String {
        var (text, state) = ("", seed)
        while text.utf8.count < count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text += "line \(state >> 40)\n"
        }
        return String(text.prefix(count))
    }

    /// Bytes that cannot be compressed.
    static func noise(_ count: Int) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
    }

    /// `POST` of coded content.
    static func post(_ content: [UInt8], _ fields: String = "Content-Encoding: gzip\r\n") -> [UInt8]
    {
        Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.count)\r\n".utf8)
            + Array(fields.utf8) + [13, 10] + content
    }

    /// The response to one request, a `GET` by default.
    static func get(
        _ handler: any Handler, _ fields: String = "Accept-Encoding: gzip\r\n",
        method: String = "GET", target: String = "/"
    ) async throws -> ServerAnswer {
        try await RouterTests.answer(
            handler, "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
    }
}

extension ServerAnswer {
    /// The content, decoded if Content-Encoding names gzip.
    var plain: [UInt8] {
        get throws { self["Content-Encoding"] == "gzip" ? try Coded.gunzip(content) : content }
    }
}
