/// How bytes are written in transcripts and in failure messages: visible ASCII stands for itself,
/// all else is `\r`, `\n`, `\t`, `\0`, `\\` or `\x` with two hexadecimal digits.
public enum Escapes {
    /// The bytes in this notation.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        bytes.reduce(into: "") { text, byte in text += Self.text(byte) }
    }

    private static func text(_ byte: UInt8) -> String {
        switch byte {
        case 0x0D: #"\r"#
        case 0x0A: #"\n"#
        case 0x09: #"\t"#
        case 0x00: #"\0"#
        case 0x5C: #"\\"#
        case 0x20...0x7E: String(UnicodeScalar(byte))
        default: #"\x"# + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    /// The bytes that `text` means, or `nil` where an escape is unknown. Characters beyond ASCII
    /// stand for their UTF-8 bytes.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "\\") {
                bytes.append(byte)
            } else if let escaped = escape(&rest) {
                bytes.append(escaped)
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func escape(_ rest: inout ArraySlice<UInt8>) -> UInt8? {
        switch rest.popFirst() {
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "0"): return 0x00
        case UInt8(ascii: "\\"): return 0x5C
        case UInt8(ascii: "x"):
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            rest = rest.dropFirst(2)
            return digits.utf8.count == 2 ? UInt8(digits, radix: 16) : nil
        default: return nil
        }
    }
}
