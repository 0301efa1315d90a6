internal import HTTPParser

/// Encodes bytes as `%` and two hexadecimal digits, and decodes them.
///
/// ```swift
/// PercentEncoding.encode("a b/ü")                  // "a%20b%2F%C3%BC"
/// PercentEncoding.encode("/a b", keeping: .path)   // "/a%20b"
/// try PercentEncoding.decode("a%20b")              // "a b"
/// ```
///
/// `+` stands for itself. Only forms use it for a space, see ``FormURLEncoded``.
///
/// RFC 3986, section 2.1.
public enum PercentEncoding {
    /// How to treat ill-formed input.
    public enum Strictness: Sendable {
        /// Ill-formed input throws an error.
        case strict
        /// A `%` that does not begin an escape stands for itself, and ill-formed UTF-8 becomes
        /// U+FFFD, as in the URL standard.
        case lenient
    }

    /// Appends the bytes to the output, and encodes each byte that is not in the set.
    ///
    /// The appended bytes are ASCII.
    public static func encode(
        _ bytes: Span<UInt8>, keeping kept: ByteSet = .unreserved, into output: inout [UInt8]
    ) {
        for index in bytes.indices {
            append(bytes[index], keeping: kept, to: &output)
        }
    }

    /// The UTF-8 of a text, with each byte encoded that is not in the set.
    public static func encode(_ text: String, keeping kept: ByteSet = .unreserved) -> String {
        encode(bytes: text.utf8, keeping: kept)
    }

    /// Bytes as text, with each byte encoded that is not in the set.
    public static func encode(
        bytes: some Sequence<UInt8>, keeping kept: ByteSet = .unreserved
    ) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.underestimatedCount)
        for byte in bytes { append(byte, keeping: kept, to: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    @inline(__always)
    static func append(_ byte: UInt8, keeping kept: ByteSet, to output: inout [UInt8]) {
        if kept.contains(byte) { return output.append(byte) }
        output.append(UInt8(ascii: "%"))
        output.append(upperHexDigit(byte >> 4))
        output.append(upperHexDigit(byte & 0xF))
    }

    /// The digit in upper case, as RFC 3986 section 2.1 recommends.
    @inline(__always)
    private static func upperHexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x37 + value
    }

    /// Appends the bytes to the output, percent-decoded once.
    ///
    /// In strict mode, a `%` without two hexadecimal digits throws `.invalidPercentEncoding`; the
    /// output then contains the bytes before it. The decoded bytes may not be UTF-8.
    public static func decode(
        _ bytes: Span<UInt8>, _ strictness: Strictness = .strict, into output: inout [UInt8]
    ) throws(CodecError) {
        if let offset = decode(bytes, keepsInvalid: strictness == .lenient, into: &output) {
            throw CodecError(.invalidPercentEncoding, at: Int64(offset))
        }
    }

    /// The percent-decoded text.
    ///
    /// In strict mode, a `%` without two hexadecimal digits throws `.invalidPercentEncoding`, and a
    /// result that is not UTF-8 throws `.invalidText` (without an offset).
    public static func decode(
        _ text: String, _ strictness: Strictness = .strict
    ) throws(CodecError) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        try decode(bytes.span, strictness, into: &output)
        if strictness == .lenient { return String(decoding: output, as: UTF8.self) }
        guard let text = String(validating: output, as: UTF8.self) else {
            throw CodecError(.invalidText)
        }
        return text
    }

    /// The same without throwing: returns the offset of the first invalid `%`; nil for valid input.
    package static func decode(
        _ bytes: Span<UInt8>, keepsInvalid: Bool, into output: inout [UInt8]
    ) -> Int? {
        // Appending nothing would write to the storage that all empty arrays share.
        guard !bytes.isEmpty else { return nil }
        var fault: Int?
        output.append(addingCapacity: bytes.count) { output in
            fault = decode(bytes, keepsInvalid: keepsInvalid, into: &output)
        }
        return fault
    }

    private static func decode(
        _ bytes: Span<UInt8>, keepsInvalid: Bool, into output: inout OutputSpan<UInt8>
    ) -> Int? {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte != UInt8(ascii: "%") {
                output.append(byte)
            } else if let value = escapedByte(bytes, at: index) {
                output.append(value)
                index += 2
            } else {
                guard keepsInvalid else { return index - 1 }
                output.append(byte)
            }
        }
        return nil
    }

    /// The value of two hexadecimal digits.
    @inline(__always)
    private static func escapedByte(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 <= bytes.count, let high = ByteClass.hexValue(bytes[index]),
            let low = ByteClass.hexValue(bytes[index + 1])
        else { return nil }
        return high << 4 | low
    }
}
