import HTTPCodecs
import TestSupport
import Testing

@Suite("RFC 6266, 4.3: File names from a peer")
struct ContentDispositionSafeNameTests {
    @Test(
        "The safe name is the last component",
        arguments: [
            ("a.txt", "a.txt"), ("a/b.txt", "b.txt"), (#"C:\a\b.txt"#, "b.txt"),
            (#"../..\..//etc/passwd"#, "passwd"), (#"a/b\c"#, "c"), ("...", "..."), (".a", ".a"),
            ("/a", "a"), ("~", "~"), ("C:", "C:"), ("a\u{2215}b", "a\u{2215}b"),
            ("%2E%2E", "%2E%2E"), ("e\u{301}", "e\u{301}"),
            // A separator with a combining mark is another character, but still a separator.
            ("../x/\u{301}y", "\u{301}y"), ("a\\\u{301}b", "\u{301}b"),
        ])
    func lastComponent(text: String, name: String) {
        #expect(ContentDisposition.safeFileName(of: text) == name)
        #expect(ContentDisposition.attachment(fileName: text).safeFileName == name)
    }

    @Test(
        "Text that cannot name a file is refused",
        arguments: [
            "", ".", "..", "/", "\\", "a/", "a\\", "a/.", "a/..", #"a\.."#, "a\0", "a\nb", "\r\n",
            "\u{7F}", "a\u{85}", "\t", "\u{1B}[2J", "a\r\n",
            // These are too long for a name, and only dots remain without the last character.
            ".." + String(repeating: "\u{301}", count: 200),
            "..." + String(repeating: "\u{301}", count: 200),
        ])
    func refusal(text: String) {
        #expect(ContentDisposition.safeFileName(of: text) == nil)
        #expect(ContentDisposition.safeFileName(of: ".\u{1D165}", byteLimit: 4) == nil)
    }

    @Test(
        "Long names are cut between characters",
        arguments: [
            (String(repeating: "a", count: 254), 254), (String(repeating: "a", count: 255), 255),
            (String(repeating: "a", count: 256), 255), (String(repeating: "ü", count: 128), 254),
            (String(repeating: "🎈", count: 64), 252),
            ("x" + String(repeating: "🇨🇭", count: 32), 249),
            (String(repeating: "a", count: 253) + "e\u{301}", 253),
            ("e" + String(repeating: "\u{301}", count: 200), 255),
            (String(repeating: "a", count: 1 << 20), 255),
        ])
    func cutting(text: String, count: Int) throws {
        let name = try #require(ContentDisposition.safeFileName(of: text))
        #expect(name.utf8.count == count)
        #expect(text.unicodeScalars.starts(with: name.unicodeScalars))
        #expect(ContentDisposition.safeFileName(of: name) == name)
    }

    @Test("A name of 200,000 combining marks is cut within ten seconds")
    func marks() async throws {
        let isQuick = try await takesLess(than: .seconds(10)) {
            let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
            let name = try #require(ContentDisposition.safeFileName(of: marks))
            #expect(name.utf8.count <= 255)
        }
        #expect(isQuick)
    }

    @Test("The caller may set the limit of bytes")
    func limit() {
        #expect(ContentDisposition.safeFileName(of: "abcdef", byteLimit: 4) == "abcd")
        #expect(ContentDisposition.safeFileName(of: "🎈🎈", byteLimit: 7) == "🎈")
    }

    @Test("A disposition without a valid file name has no safe name")
    func nothing() {
        #expect(ContentDisposition.attachment().safeFileName == nil)
        #expect(ContentDisposition.formData(name: "a", fileName: "..").safeFileName == nil)
    }
}
