internal import HTTPCodecs
internal import HTTPCrypto
internal import HTTPParser

/// The file format of a stored response's head: a line with the format and the hash of the rest,
/// then JSON. A truncated or modified file is treated as missing.
enum CacheEntryFile {
    /// The content of the file.
    struct Content {
        var head: CachedHead
        /// The name of the file with the content, in the same folder.
        var bodyName: String
        var bodyLength: Int64
        var bodyChecksum: UInt64
    }

    private struct Row: Codable {
        var url: String
        var status: Int
        var version: String
        var fields: [[String]]
        var trailers: [[String]]
        var requested: Int64
        var responded: Int64
        var vary: [String]
        var variant: String
        var body: String
        var length: Int64
        var checksum: UInt64
    }

    static let byteLimit = 1 << 20
    private static let mark = "http-cache-1 "

    static func bytes(of content: Content) throws -> [UInt8] {
        let head = content.head
        let row = Row(
            url: head.url, status: Int(head.status.code), version: head.version.rawValue,
            fields: head.fields.map { [$0.name.text, $0.value] },
            trailers: head.trailers.map { [$0.name.text, $0.value] },
            requested: head.requestTime.secondsSinceEpoch,
            responded: head.responseTime.secondsSinceEpoch, vary: head.vary, variant: head.variant,
            body: content.bodyName, length: content.bodyLength, checksum: content.bodyChecksum)
        let json = try JSONBody().encode(row)
        return Array("\(mark)\(Hex.text(of: Crypto.sha256(json)))\n".utf8) + json
    }

    static func content(of bytes: [UInt8]) -> Content? {
        guard let end = bytes.firstIndex(of: 10) else { return nil }
        let json = Array(bytes[(end + 1)...])
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        guard line == "\(mark)\(Hex.text(of: Crypto.sha256(json)))",
            let row = try? JSONBody().decode(Row.self, from: json),
            let status = HTTPStatus(row.status),
            let version = ClientResponse.Version(rawValue: row.version),
            let fields = fields(row.fields), let trailers = Self.fields(row.trailers),
            !row.body.utf8.contains(UInt8(ascii: "/")), row.length >= 0
        else { return nil }
        let head = CachedHead(
            url: row.url, status: status, version: version, fields: fields, trailers: trailers,
            requestTime: HTTPDate(secondsSinceEpoch: row.requested),
            responseTime: HTTPDate(secondsSinceEpoch: row.responded), vary: row.vary,
            variant: row.variant)
        return Content(
            head: head, bodyName: row.body, bodyLength: row.length, bodyChecksum: row.checksum)
    }

    private static func fields(_ rows: [[String]]) -> HTTPFields? {
        var fields = HTTPFields()
        for row in rows {
            guard row.count == 2, let name = HTTPFieldName(row[0]) else { return nil }
            fields.append(name, row[1])
        }
        return fields
    }
}

/// A checksum that detects accidental changes of content (FNV-1a, 64 bits).
struct CacheChecksum: Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
