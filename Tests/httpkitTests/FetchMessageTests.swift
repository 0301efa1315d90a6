import Testing

@testable import httpkit

@Suite("Messages of fetch with text of a server")
struct FetchMessageTests {
    @Test(
        "Nothing in them steers a terminal, or looks like another line",
        arguments: [
            ("gone \u{1B}[31mred\u{1B}[0m", "gone ?[31mred?[0m"),
            ("a\r\nb\u{7F}\u{9B}c", "a?b??c"), ("a\u{202E}b\u{2028}c", "a?b?c"),
            ("plain – 😀 é", "plain – 😀 é"), ("", ""),
        ])
    func harmless(_ text: String, _ expected: String) {
        #expect(Fetch.harmless(text) == expected)
    }
}
