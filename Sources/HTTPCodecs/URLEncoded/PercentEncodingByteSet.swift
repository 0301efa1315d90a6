extension PercentEncoding {
    /// The ASCII bytes that a percent-encoder leaves as they are; it encodes all others.
    ///
    /// With the sets of RFC 3986, `%` is encoded. Most sets of the URL standard contain `%`,
    /// because they apply to text that may already be percent-encoded.
    public struct ByteSet: Hashable, Sendable {
        /// Bytes 0 to 63, a bit each.
        private var low: UInt64
        /// Bytes 64 to 127.
        private var high: UInt64

        private init(low: UInt64, high: UInt64) {
            self.low = low
            self.high = high
        }

        /// Creates a set of ASCII characters; any other character traps.
        public init(_ characters: String) {
            self.init(low: 0, high: 0)
            for byte in characters.utf8 {
                precondition(byte < 128, "not an ASCII character: \(characters)")
                if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
            }
        }

        /// Whether the byte stays as it is.
        @inline(__always)
        public func contains(_ byte: UInt8) -> Bool {
            let word = byte < 64 ? low : high
            return byte < 128 && (word >> UInt64(byte & 63)) & 1 == 1
        }

        /// The bytes of both sets.
        public func union(_ other: ByteSet) -> ByteSet {
            ByteSet(low: low | other.low, high: high | other.high)
        }
    }
}

// RFC 3986.
extension PercentEncoding.ByteSet {
    /// unreserved: letters, digits, `-`, `.`, `_` and `~` (RFC 3986 section 2.3).
    public static var unreserved: Self {
        Self(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }
    /// pchar: unreserved, sub-delims, `:` and `@`. One path segment (RFC 3986 section 3.3).
    public static var pathSegment: Self {
        Self(low: 0x2FFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    }
    /// pchar and `/`. A whole path (RFC 3986 section 3.3).
    public static var path: Self {
        Self(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    }
    /// pchar, `/` and `?`. A whole query or fragment (RFC 3986 sections 3.4 and 3.5).
    public static var query: Self {
        Self(low: 0xAFFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
    }
    /// unreserved, sub-delims and `:`. User information (RFC 3986 section 3.2.1).
    public static var userInfo: Self {
        Self(low: 0x2FFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }
    /// attr-char. Extended values of parameters (RFC 8187 section 3.2.1).
    public static var attribute: Self {
        Self(low: 0x03FF_685A_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
    }
}

// The complements of the percent-encode sets of the URL standard: the bytes that stay unchanged.
extension PercentEncoding.ByteSet {
    /// The complement of the fragment percent-encode set.
    public static var urlFragment: Self {
        Self(low: 0xAFFF_FFFA_0000_0000, high: 0x7FFF_FFFE_FFFF_FFFF)
    }
    /// The complement of the query percent-encode set.
    public static var urlQuery: Self {
        Self(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    }
    /// The complement of the special-query percent-encode set, the query of an http URL.
    public static var urlSpecialQuery: Self {
        Self(low: 0xAFFF_FF72_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
    }
    /// The complement of the path percent-encode set.
    public static var urlPath: Self {
        Self(low: 0x2FFF_FFF2_0000_0000, high: 0x57FF_FFFE_BFFF_FFFF)
    }
    /// The complement of the userinfo percent-encode set.
    public static var urlUserInfo: Self {
        Self(low: 0x03FF_7FF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }
    /// The complement of the component percent-encode set, the set of `encodeURIComponent`.
    public static var urlComponent: Self {
        Self(low: 0x03FF_6782_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
    }
    /// The complement of the application/x-www-form-urlencoded percent-encode set. A form writes
    /// a space as `+`, which ``FormURLEncoded`` does.
    public static var form: Self {
        Self(low: 0x03FF_6400_0000_0000, high: 0x07FF_FFFE_87FF_FFFE)
    }
}
