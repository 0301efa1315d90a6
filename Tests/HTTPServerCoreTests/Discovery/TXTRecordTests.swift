import HTTPServerDiscovery
import Testing

@Suite("RFC 6763, 6: TXT records")
struct TXTRecordTests {
    private func record(_ entries: (String, [UInt8]?)...) throws -> TXTRecord {
        var record = TXTRecord()
        for (key, value) in entries { try record.set(key, value) }
        return record
    }

    @Test("An empty record is one empty string")
    func empty() throws {
        #expect(TXTRecord().bytes == [0])
        #expect(try TXTRecord(bytes: [0]).entries.isEmpty)
        #expect(try TXTRecord(bytes: []).entries.isEmpty)
    }

    @Test("Each entry follows its length; a missing value and an empty one differ")
    func wire() throws {
        let record = try record(("path", Array("/a".utf8)), ("flag", nil), ("none", []))
        let bytes =
            [7] + Array("path=/a".utf8) + [4] + Array("flag".utf8) + [5] + Array("none=".utf8)
        #expect(record.bytes == bytes)
        let read = try TXTRecord(bytes: bytes)
        #expect(read == record)
        #expect(read.contains("flag"))
        #expect(read["flag"] == nil)
        #expect(read["none"] == [])
        #expect(!read.contains("other"))
    }

    @Test("Values are arbitrary bytes, and have a text if they are UTF-8")
    func values() throws {
        var record = TXTRecord()
        try record.set("raw", [0, 0xFF, 0x3D, 0x0A])
        try record.set("text", "Grüße=1")
        let read = try TXTRecord(bytes: record.bytes)
        #expect(read["raw"] == [0, 0xFF, 0x3D, 0x0A])
        #expect(read.text(of: "raw") == nil)
        #expect(read.text(of: "text") == "Grüße=1")
    }

    @Test("Keys are compared without regard to case, and a new value replaces the old one")
    func keys() throws {
        var record = try record(("Path", [1]), ("b", [2]))
        try record.set("PATH", [3])
        #expect(record.entries.map(\.key) == ["PATH", "b"])
        #expect(record["path"] == [3])
        record.remove("pAtH")
        record.remove("nothing")
        #expect(record.entries.map(\.key) == ["b"])
    }

    @Test(
        "Keys are printable US-ASCII without =",
        arguments: ["", "a=b", "é", "a\u{7F}", "a\n", "\0"])
    func invalidKeys(_ key: String) {
        var record = TXTRecord()
        #expect(throws: TXTRecordError.invalidKey(key)) { try record.set(key, nil) }
        #expect(record.entries.isEmpty)
    }

    @Test("Key, = and value are 255 bytes at most")
    func entryLimit() throws {
        var record = TXTRecord()
        for size in [250, 251] { try record.set("key", Array(repeating: 7, count: size)) }
        #expect(throws: TXTRecordError.entryTooLong("key")) {
            try record.set("key", Array(repeating: 7, count: 252))
        }
        #expect(record["key"]?.count == 251)
        #expect(try TXTRecord(bytes: record.bytes) == record)
        try record.set(String(repeating: "k", count: 255), nil)
        let long = String(repeating: "k", count: 256)
        #expect(throws: TXTRecordError.entryTooLong(long)) { try record.set(long, nil) }
    }

    @Test("All entries together are 8,900 bytes at most")
    func recordLimit() throws {
        var record = TXTRecord()
        // 89 entries of 100 bytes with their lengths.
        for number in 10..<99 { try record.set("k\(number)", Array(repeating: 1, count: 95)) }
        #expect(record.bytes.count == TXTRecord.byteLimit)
        let full = record
        #expect(throws: TXTRecordError.recordTooLong) { try record.set("x", nil) }
        #expect(throws: TXTRecordError.recordTooLong) {
            try record.set("k10", Array(repeating: 1, count: 96))
        }
        #expect(record == full)
        try record.set("k10", Array(repeating: 1, count: 94))
        #expect(try TXTRecord(bytes: full.bytes) == full)
        #expect(throws: TXTRecordError.recordTooLong) { try TXTRecord(bytes: full.bytes + [0]) }
    }

    @Test("The first of equal keys counts; empty strings and entries without a key are ignored")
    func forgiving() throws {
        let strings = ["a=1", "A=2", "=x", "", "b", "=", "b=3"]
        let bytes = strings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        let record = try TXTRecord(bytes: bytes)
        #expect(record.entries.map(\.key) == ["a", "b"])
        #expect(record.text(of: "a") == "1")
        #expect(record["b"] == nil)
    }

    @Test("A record that is truncated within a string is an error")
    func truncated() throws {
        let bytes = try record(("ab", [1, 2]), ("cd", nil)).bytes
        for count in 0...bytes.count {
            let isWhole = [0, 6, bytes.count].contains(count)
            if isWhole {
                _ = try TXTRecord(bytes: Array(bytes[..<count]))
            } else {
                #expect(throws: TXTRecordError.truncated) {
                    try TXTRecord(bytes: Array(bytes[..<count]))
                }
            }
        }
    }

    @Test("The description of an error names the key or the limit")
    func descriptions() {
        let texts = [
            TXTRecordError.invalidKey("a=b"), .entryTooLong("k"), .recordTooLong, .truncated,
        ].map(\.description)
        #expect(
            texts == [
                "TXT record: the key \"a=b\" is not allowed",
                "TXT record: the entry \"k\" is longer than 255 bytes",
                "TXT record: longer than 8900 bytes", "TXT record: ends inside a string",
            ])
    }
}
