/// The byte classes of the grammar, each with its rule (RFC 9110 section 5.6, RFC 3986).
///
/// Sets are tested as one bit of a 128-bit constant, without a table to load or a global to
/// initialise.
package enum ByteClass {
    /// A set of ASCII bytes as two words: bytes 0 to 63 and 64 to 127.
    struct Set {
        var low: UInt64 = 0
        var high: UInt64 = 0

        @inline(__always)
        func contains(_ byte: UInt8) -> Bool {
            let word = byte < 64 ? low : high
            return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
        }
    }

    /// token = 1*tchar (RFC 9110 section 5.6.2):
    /// tchar = "!" / "#" / "$" / "%" / "&" / "'" / "*" / "+" / "-" / "." / "^" / "_" / "`" / "|" /
    /// "~" / DIGIT / ALPHA
    @inline(__always)
    package static func isToken(_ byte: UInt8) -> Bool {
        Set(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE).contains(byte)
    }

    /// field-vchar, SP and HTAB: the bytes of a field value (RFC 9110 section 5.5). The other
    /// control characters and DEL are excluded; obs-text passes as opaque bytes.
    @inline(__always)
    package static func isFieldContent(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7F) || byte == 0x09
    }

    /// A byte that a request target may contain: VCHAR without "#". RFC 9112 section 3.2 demands a
    /// URI, but browsers send a few other visible characters unescaped in queries, so all of them
    /// pass. A fragment is never sent.
    @inline(__always)
    package static func isTarget(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != 0x23
    }

    /// DIGIT (RFC 5234).
    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    /// ALPHA (RFC 5234).
    @inline(__always)
    package static func isAlpha(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    /// The value of a HEXDIG, or `nil`.
    @inline(__always)
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        if isDigit(byte) { return byte &- 0x30 }
        let letter = (byte | 0x20) &- 0x61
        return letter < 6 ? letter &+ 10 : nil
    }

    /// SP or HTAB, the bytes of OWS (RFC 9110 section 5.6.3).
    @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09
    }

    /// The characters of reg-name and IP-literal, and the ":" before a port (RFC 3986 section
    /// 3.2.2): unreserved, sub-delims, "%", "[", "]", ":".
    @inline(__always)
    package static func isHost(_ byte: UInt8) -> Bool {
        Set(low: 0x2FFF_7FF2_0000_0000, high: 0x47FF_FFFE_AFFF_FFFE).contains(byte)
    }

    /// The lower-case form of an ASCII letter; any other byte unchanged.
    @inlinable
    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }
}
