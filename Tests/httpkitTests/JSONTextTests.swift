import HTTPParser
import Testing

@testable import httpkit

@Suite("RFC 8259: JSON text of the output")
struct JSONTextTests {
    @Test(
        "7: Quotes, backslashes and characters outside printable ASCII are escaped",
        arguments: [
            ("", #""""#), ("plain ~!", #""plain ~!""#), (#"a"b\c/"#, #""a\"b\\c/""#),
            ("\t\r\n", #""\t\r\n""#), ("\u{0}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#),
            ("\u{E9}\u{FF}", #""\u00e9\u00ff""#), ("\u{20AC}", #""\u20ac""#),
            ("\u{1F600}", #""\ud83d\ude00""#),
        ])
    func strings(text: String, json: String) {
        var buffer = ByteBuffer()
        buffer.append(json: text)
        #expect(latin1(buffer.bytes) == json)
    }

    @Test("Each byte becomes the character with its value")
    func latin1Text() {
        let bytes: [UInt8] = [0x41, 0x80, 0xC3, 0xA9, 0xFF]
        #expect(latin1(bytes.span).unicodeScalars.map(\.value) == bytes.map(UInt32.init))
        #expect(latin1(Array("abc".utf8).span) == "abc")
    }
}
