import HTTPParser
import Testing

@testable import httpkit

@Suite("The log on standard error")
struct StandardErrorLogTests {
    @Test(
        "Control characters and line ends of a client are escaped",
        arguments: [
            ("", ""), ("plain ~", "plain ~"), ("a\r\nb\t", #"a\x0d\x0ab\x09"#),
            ("\u{1B}[2J\u{7F}\u{0}", #"\x1b[2J\x7f\x00"#),
            ("\u{80}\u{9B}2J\u{9F}", #"\x80\x9b2J\x9f"#),
            ("\u{A0}\u{E9}\u{20AC}\u{1F600}", "\u{A0}\u{E9}\u{20AC}\u{1F600}"),
        ] as [(String, String)])
    func controls(_ text: String, _ line: String) {
        var buffer = ByteBuffer()
        StandardErrorLog.append(text, to: &buffer)
        #expect(latin1(buffer.bytes) == latin1(Array(line.utf8).span))
    }
}
