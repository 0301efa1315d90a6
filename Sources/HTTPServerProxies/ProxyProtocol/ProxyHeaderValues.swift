/// The types of values in a header of version 2.
enum ProxyValueType: UInt8, Sendable {
    case applicationProtocol = 0x01
    case authority = 0x02
    case checksum = 0x03
    case uniqueID = 0x05
    case tls = 0x20
    case tlsVersion = 0x21
    case tlsCommonName = 0x22
    case tlsCipher = 0x23
}

/// Reads the values of a header of version 2. Unknown types and NOOP are skipped.
struct ProxyHeaderValues: Sendable {
    /// The bits of the first byte of the TLS value.
    enum TLSFlags {
        static let isTLS: UInt8 = 1
        /// The client sent a certificate on this connection, or earlier in the session.
        static let certificates: UInt8 = 2 | 4
    }

    private var seen: Set<ProxyValueType> = []
    private var checksum: UInt32?
    /// The offset of the checksum in the header.
    private var checksumStart = 0

    mutating func take(
        _ type: UInt8, _ content: ArraySlice<UInt8>, at offset: Int, _ header: inout ProxyHeader
    ) throws(ProxyHeaderError) {
        guard let type = ProxyValueType(rawValue: type) else { return }
        try noteFirst(type, at: offset)
        switch type {
        case .applicationProtocol:
            guard 1...255 ~= content.count else { throw Self.invalid(offset) }
            header.applicationProtocol = Array(content)
        case .authority: header.authority = try Self.text(content, upTo: 255, at: offset)
        case .checksum:
            guard content.count == 4 else { throw Self.invalid(offset) }
            checksum = Self.number(content)
            checksumStart = content.startIndex
        case .uniqueID:
            guard content.count <= 128 else { throw Self.invalid(offset) }
            header.uniqueID = Array(content)
        case .tls: header.tls = try tls(content, at: offset)
        // These have a meaning only inside of the TLS value.
        case .tlsVersion, .tlsCommonName, .tlsCipher: throw Self.invalid(offset)
        }
    }

    /// Compares the checksum with that of the whole header, with zeros in place of the checksum.
    func finish(_ header: inout ProxyHeader, _ bytes: [UInt8]) throws(ProxyHeaderError) {
        guard let checksum else { return }
        var bytes = bytes
        bytes.replaceSubrange(checksumStart..<checksumStart + 4, with: [0, 0, 0, 0])
        guard CRC32C.checksum(bytes) == checksum else {
            throw ProxyHeaderError(.wrongChecksum, at: checksumStart)
        }
    }

    private mutating func noteFirst(
        _ type: ProxyValueType, at offset: Int
    ) throws(ProxyHeaderError) {
        guard seen.insert(type).inserted else { throw ProxyHeaderError(.repeatedValue, at: offset) }
    }

    /// Reads one byte of flags, four bytes of the verification result, then values of the same
    /// form.
    private mutating func tls(
        _ content: ArraySlice<UInt8>, at offset: Int
    ) throws(ProxyHeaderError) -> ProxyHeader.TLS? {
        guard let flags = content.first, content.count >= 5 else { throw Self.invalid(offset) }
        var tls = ProxyHeader.TLS()
        tls.hasCertificate = flags & TLSFlags.certificates != 0
        tls.verifyResult = Self.number(content.dropFirst().prefix(4))
        var rest = content.dropFirst(5)
        while let type = rest.first {
            let start = rest.startIndex
            guard rest.count >= 3 else { throw Self.invalid(start) }
            let length = Int(Self.number(rest[(start + 1)..<(start + 3)]))
            guard length <= rest.count - 3 else { throw Self.invalid(start) }
            let value = rest[(start + 3)..<(start + 3 + length)]
            try takeTLS(type, value, at: start, &tls)
            rest = rest[value.endIndex...]
        }
        return flags & TLSFlags.isTLS == 0 ? nil : tls
    }

    private mutating func takeTLS(
        _ type: UInt8, _ value: ArraySlice<UInt8>, at offset: Int, _ tls: inout ProxyHeader.TLS
    ) throws(ProxyHeaderError) {
        switch ProxyValueType(rawValue: type) {
        case .tlsVersion:
            try noteFirst(.tlsVersion, at: offset)
            tls.version = try Self.text(value, upTo: 255, at: offset)
        case .tlsCommonName:
            try noteFirst(.tlsCommonName, at: offset)
            tls.commonName = try Self.text(value, upTo: 1_024, at: offset)
        case .tlsCipher:
            try noteFirst(.tlsCipher, at: offset)
            tls.cipher = try Self.text(value, upTo: 255, at: offset)
        default: return
        }
    }

    /// UTF-8 without control characters, because these texts are logged.
    private static func text(
        _ bytes: ArraySlice<UInt8>, upTo limit: Int, at offset: Int
    ) throws(ProxyHeaderError) -> String {
        guard 1...limit ~= bytes.count, bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw invalid(offset) }
        return text
    }

    /// Big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func invalid(_ offset: Int) -> ProxyHeaderError {
        ProxyHeaderError(.invalidValue, at: offset)
    }
}

/// The checksum of RFC 9260 appendix A.
enum CRC32C {
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = UInt32.max
        for byte in bytes {
            checksum ^= UInt32(byte)
            for _ in 0..<8 {
                checksum = checksum >> 1 ^ (checksum & 1 == 0 ? 0 : 0x82F6_3B78)
            }
        }
        return ~checksum
    }
}
