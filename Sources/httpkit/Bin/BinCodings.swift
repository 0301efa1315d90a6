import HTTPCodecs
import HTTPParser
import HTTPServerCore

/// Content codings (RFC 9110 section 8.4.1), whether or not the client has asked for them.
extension BinRouter {
    mutating func addCodings() {
        group("Codings")
        coded("/gzip", "gzip", "gzipped") { try $0.gzipped() }
        coded("/deflate", "deflate", "deflated") { try ContentCoding.deflate.encode($0.span) }
        coded("/brotli", "br", "brotli") { StoredFrame.brotli($0) }
        coded("/zstd", "zstd", "zstd") { StoredFrame.zstd($0) }
        answer(
            [.get], "/base64/:value", "The decoded form of a text in base64, of either alphabet.",
            example: "/base64/SGVsbG8sIHdvcmxkIQ"
        ) { request in
            let text = request.parameter("value").utf8.map { byte in
                switch byte {
                case UInt8(ascii: "-"): UInt8(ascii: "+")
                case UInt8(ascii: "_"): UInt8(ascii: "/")
                default: byte
                }
            }
            let padding = text.contains(UInt8(ascii: "=")) ? 0 : (4 - text.count % 4) % 4
            guard
                let bytes = Base64.decode(
                    text + [UInt8](repeating: UInt8(ascii: "="), count: padding))
            else { throw HTTPError(.badRequest, "expected base64 after /base64/") }
            let mediaType = "text/html; charset=utf-8"
            guard let plain = String(validating: bytes, as: UTF8.self) else {
                return Response(.ok, body: .bytes(bytes))
            }
            // A link from another site chooses this content. The sandbox that each answer gets
            // (`BinRouter.finish`) keeps it from acting as a page of this server.
            return Response(
                .ok,
                body: .text(plain, mediaType: mediaType))
        }
    }

    private mutating func coded(
        _ path: String, _ coding: String, _ member: JSONName,
        encode: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
        answer([.get], path, "JSON in the coding \(coding).") { request in
            let json = JSONValue.object([
                member: .flag(true), "headers": Self.fields(of: request),
                "method": .text(request.method.name), "origin": .text(Self.origin(of: request)),
            ])
            let bytes = try encode(json.bytes)
            return Response(
                .ok, fields: [.contentEncoding: coding],
                body: .bytes(bytes, mediaType: "application/json"))
        }
    }
}

/// Streams of codings that the toolkit has no encoder for. Their formats allow uncompressed
/// content, which every decoder has to support.
enum StoredFrame {
    /// Uncompressed meta-blocks of at most 64 KiB, and an empty last one (RFC 7932 section 9.2).
    static func brotli(_ content: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var start = 0
        while start < content.count {
            let count = min(content.count - start, 1 << 16)
            // From the lowest bit on: ISLAST 0, MNIBBLES 4 as 0 in two bits, the length less one in
            // 16, ISUNCOMPRESSED 1. WBITS 16, a single 0 bit, precedes the first meta-block.
            var head = UInt32(count - 1) << 3 | 1 << 19
            if start == 0 { head <<= 1 }
            for shift in [UInt32(0), 8, 16] { output.append(UInt8(head >> shift & 0xFF)) }
            output += content[start..<(start + count)]
            start += count
        }
        // ISLAST and ISLASTEMPTY, after WBITS in an empty stream.
        output.append(content.isEmpty ? 0b110 : 0b11)
        return output
    }

    /// One frame of raw blocks of at most 128 KiB (RFC 8878 section 3.1.1).
    static func zstd(_ content: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
        // A single segment, with the length of the content in four bytes.
        output.append(0b1010_0000)
        for shift in [0, 8, 16, 24] { output.append(UInt8(content.count >> shift & 0xFF)) }
        var start = 0
        repeat {
            let count = min(content.count - start, 128 << 10)
            let isLast = start + count == content.count
            let head = count << 3 | (isLast ? 1 : 0)
            for shift in [0, 8, 16] { output.append(UInt8(head >> shift & 0xFF)) }
            output += content[start..<(start + count)]
            start += count
        } while start < content.count
        return output
    }
}
