internal import HTTPServerCore
internal import ToolkitSystem

/// Reads version 2: 12 bytes of signature, then version and command, family, and the length of the
/// rest: the addresses, and values of the form type, length, content.
struct ProxyBinaryReader: Sendable {
    static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    static let prefixLength = 16

    /// The lengths of both addresses with their ports, by the byte for the family.
    private static let addressLengths: [UInt8: Int] = [
        0x00: 0, 0x11: 12, 0x12: 12, 0x21: 36, 0x22: 36, 0x31: 216, 0x32: 216,
    ]

    private let lengthLimit: Int
    private var bytes: [UInt8] = []
    /// The length of the whole header, once it is known.
    private var end = 0
    private var header = ProxyHeader(.proxy)
    private var values = ProxyHeaderValues()
    /// The offset of the next value.
    private var valueStart = 0
    /// Whether the bytes after the first 16 are ignored.
    private var isSkipped = false

    init(lengthLimit: Int) {
        self.lengthLimit = lengthLimit
    }

    /// - Returns: the header after its last byte.
    mutating func take(_ byte: UInt8) throws(ProxyHeaderError) -> ProxyHeader? {
        let offset = bytes.count
        bytes.append(byte)
        switch offset {
        case ..<12:
            guard byte == Self.signature[offset] else {
                throw ProxyHeaderError(.noProxyHeader, at: offset)
            }
        case 12: try takeCommand(byte)
        case 13: try takeFamily(byte)
        case 14, 15: try takeLength(at: offset)
        default: try takeContent(at: offset)
        }
        guard offset >= Self.prefixLength - 1, bytes.count == end else { return nil }
        if !isSkipped { try values.finish(&header, bytes) }
        return header
    }

    private mutating func takeCommand(_ byte: UInt8) throws(ProxyHeaderError) {
        guard byte >> 4 == 2 else { throw ProxyHeaderError(.unsupportedVersion, at: 12) }
        switch byte & 0x0F {
        case 0: header.command = .local
        case 1: header.command = .proxy
        default: throw ProxyHeaderError(.invalidCommand, at: 12)
        }
    }

    /// The family is ignored with LOCAL. With an unspecified family the length of the addresses is
    /// unknown, and so is the start of the values.
    private mutating func takeFamily(_ byte: UInt8) throws(ProxyHeaderError) {
        isSkipped = header.command == .local || byte == 0
        guard isSkipped || Self.addressLengths[byte] != nil else {
            throw ProxyHeaderError(.invalidFamily, at: 13)
        }
    }

    private mutating func takeLength(at offset: Int) throws(ProxyHeaderError) {
        let high = Int(bytes[14]) << 8
        let length = offset == 15 ? high | Int(bytes[15]) : high
        guard length <= lengthLimit else { throw ProxyHeaderError(.tooLong, at: offset) }
        guard offset == 15 else { return }
        let addressLength = isSkipped ? 0 : Self.addressLengths[bytes[13]] ?? 0
        guard length >= addressLength else { throw ProxyHeaderError(.tooShort, at: offset) }
        end = Self.prefixLength + length
        valueStart = Self.prefixLength + addressLength
    }

    private mutating func takeContent(at offset: Int) throws(ProxyHeaderError) {
        guard !isSkipped else { return }
        guard offset >= valueStart else {
            if bytes.count == valueStart { takeAddresses() }
            return
        }
        let taken = bytes.count - valueStart
        guard end - valueStart >= 3 else { throw ProxyHeaderError(.invalidValue, at: offset) }
        guard taken >= 3 else { return }
        let length = Int(bytes[valueStart + 1]) << 8 | Int(bytes[valueStart + 2])
        guard length <= end - valueStart - 3 else {
            throw ProxyHeaderError(.invalidValue, at: valueStart + 2)
        }
        guard taken == 3 + length else { return }
        try values.take(bytes[valueStart], bytes[(valueStart + 3)...], at: valueStart, &header)
        valueStart = bytes.count
    }

    private mutating func takeAddresses() {
        let block = bytes[Self.prefixLength..<valueStart]
        switch bytes[13] >> 4 {
        case 3:
            header.source = Self.path(block.prefix(108))
            header.destination = Self.path(block.suffix(108))
        default:
            let length = (block.count - 4) / 2
            let ports = block.suffix(4)
            let source = block.prefix(length)
            let destination = block.dropFirst(length).prefix(length)
            header.source = Self.address(source, ports.prefix(2))
            header.destination = Self.address(destination, ports.suffix(2))
        }
    }

    private static func address(
        _ bytes: ArraySlice<UInt8>, _ port: ArraySlice<UInt8>
    ) -> SocketAddress? {
        PeerAddress(bytes: bytes, port: port.reduce(0) { $0 << 8 | UInt16($1) })?.address
    }

    private static func path(_ bytes: ArraySlice<UInt8>) -> SocketAddress {
        .unix(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }
}
