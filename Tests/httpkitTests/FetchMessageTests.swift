import Testing

@testable import httpkit

@Suite("httpkit fetch: messages with text of a server")
struct FetchMessageTests {
    @Test(
        "Control characters and line ends of a server are replaced",
        arguments: [
            ("gone \u{1B}[31mred\u{1B}[0m", "gone ?[31mred?[0m"),
            ("a\r\nb\u{7F}\u{9B}c", "a?b??c"), ("a\u{202E}b\u{2028}c", "a?b?c"),
            ("plain – 😀 é", "plain – 😀 é"), ("", ""),
        ])
    func harmless(_ text: String, _ expected: String) {
        #expect(Fetch.harmless(text) == expected)
    }

    @Test(
        "The first line of an error page is shown if it is text and says more than the status",
        arguments: [
            ("421 Told: unknown host\nmore", "421 Told", "unknown host"),
            ("421 a: b: unknown", "421 a: b", "unknown"), ("421: x\u{1B}", "421", "x?"),
            ("404 Not Found: 404 Not Found\n", "404 Not Found", nil), ("404 No", "404 No", nil),
            ("404 No: <!DOCTYPE html>", "404 No", nil), ("404 No: \nsecond", "404 No", nil),
        ] as [(String, String, String?)])
    func explanation(_ message: String, _ status: String, _ expected: String?) {
        #expect(Fetch.explanation(in: message, of: status) == expected)
    }
}
