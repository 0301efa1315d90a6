import HTTPParser
import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("Directory listing: readable text")
struct ListingTextTests {
    @Test(
        "Sizes have one decimal below ten and carry into the next unit",
        arguments: [
            (-1, "0 B"), (0, "0 B"), (1, "1 B"), (1_023, "1023 B"), (1_024, "1.0 KiB"),
            (1_075, "1.0 KiB"), (1_076, "1.1 KiB"), (1_536, "1.5 KiB"), (10_188, "9.9 KiB"),
            (10_189, "10 KiB"), (10_751, "10 KiB"), (10_752, "11 KiB"), (1_048_063, "1023 KiB"),
            (1_048_064, "1.0 MiB"), (734_003_200, "700 MiB"), (4_831_838_208, "4.5 GiB"),
            (1 << 40, "1.0 TiB"), (1 << 50, "1.0 PiB"), (.max, "8.0 EiB"),
        ] as [(Int64, String)])
    func sizes(byteCount: Int64, text: String) {
        #expect(ListingText.size(byteCount) == text)
    }

    @Test(
        "Times are shown in UTC to the minute",
        arguments: [
            (1_795_287_959, "2026-11-21 19:05"), (0, "1970-01-01 00:00"),
            (.max, "9999-"), (.min, "0000-"),
        ] as [(Int64, String)])
    func times(seconds: Int64, text: String) {
        let shown = ListingText.time(HTTPDate(secondsSinceEpoch: seconds))
        #expect(shown.hasPrefix(text))
        #expect(shown.utf8.count == 16)
    }

    @Test("Control characters are made visible, and invalid bytes replaced")
    func names() {
        #expect(ListingText.name(Array("a\n\u{1B}\u{7F}b ü".utf8)) == "a␊␛␡b ü")
        #expect(ListingText.name([0x61, 0xE9, 0x62]) == "a\u{FFFD}b")
        #expect(
            ListingText.name(Array("a\u{85}\u{9B}\u{2028}é".utf8)) == "a\\u{85}\\u{9B}\\u{2028}é")
    }

    @Test(
        "Bidirectional control characters are shown as escapes",
        arguments: ["61C", "200E", "200F", "202A", "202E", "2066", "2069"])
    func directions(digits: String) throws {
        let scalar = try #require(UInt32(digits, radix: 16).flatMap { Unicode.Scalar($0) })
        #expect(
            ListingText.name(Array("a\(Character(scalar))gpj.exe".utf8)) == "a\\u{\(digits)}gpj.exe"
        )
        // Text that is written from right to left is not changed.
        #expect(ListingText.name(Array("שלום ؟ …".utf8)) == "שלום ؟ …")
    }

    @Test("Nouns agree with their number")
    func counts() {
        #expect(ListingText.count(0, "file") == "0 files")
        #expect(ListingText.count(1, "file") == "1 file")
        #expect(ListingText.count(2, "file") == "2 files")
    }
}
