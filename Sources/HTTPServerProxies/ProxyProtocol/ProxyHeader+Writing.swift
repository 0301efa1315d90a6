internal import HTTPServerCore
internal import ToolkitSystem

extension ProxyHeader {
    /// The bytes to send before those of a connection.
    ///
    /// Version 1 carries only addresses and ports of IPv4 or IPv6. If the two addresses have
    /// different families, or a text is not an address, the family is sent as unknown.
    /// - Parameters:
    ///   - version: the version.
    ///   - hasChecksum: whether version 2 gets a CRC-32C.
    public func bytes(in version: Version, hasChecksum: Bool = false) -> [UInt8] {
        version == .text ? textBytes : binaryBytes(hasChecksum)
    }

    private var textBytes: [UInt8] {
        guard command == .proxy, let source, let destination, let kind = family,
            let sourcePort = source.port, let destinationPort = destination.port
        else { return Array("PROXY UNKNOWN\r\n".utf8) }
        let name = kind == .ipv4 ? "TCP4" : "TCP6"
        let hosts = [source, destination].map { PeerAddress($0)?.address.host ?? "" }
        let words = "\(hosts[0]) \(hosts[1]) \(sourcePort) \(destinationPort)"
        return Array("PROXY \(name) \(words)\r\n".utf8)
    }

    private func binaryBytes(_ hasChecksum: Bool) -> [UInt8] {
        let family = command == .proxy ? self.family : nil
        var content = family.map { addressBytes($0) } ?? []
        // Without addresses the receiver does not read values.
        if family != nil { content += values }
        if family != nil, hasChecksum { content += Self.value(.checksum, [0, 0, 0, 0]) }
        precondition(
            content.count <= 0xFFFF, "a header has at most 65,535 bytes after the first 16")
        var bytes = ProxyBinaryReader.signature
        bytes.append(command == .local ? 0x20 : 0x21)
        bytes.append(family?.rawValue ?? 0)
        bytes += Self.big(UInt16(content.count)) + content
        if family != nil, hasChecksum {
            bytes.replaceSubrange((bytes.count - 4)..., with: Self.big(CRC32C.checksum(bytes)))
        }
        return bytes
    }

    /// The families, all with stream sockets.
    private enum Family: UInt8 {
        case ipv4 = 0x11
        case ipv6 = 0x21
        case unix = 0x31
    }

    /// The family of both addresses.
    private var family: Family? {
        switch (source, destination) {
        case (.ipv4(let source, _), .ipv4(let destination, _)):
            return areIPv4(source, destination) ? .ipv4 : nil
        case (.ipv6, .ipv6):
            return peer != nil && destination.flatMap { PeerAddress($0) } != nil ? .ipv6 : nil
        case (.unix, .unix): return .unix
        default: return nil
        }
    }

    private func areIPv4(_ hosts: String...) -> Bool {
        hosts.allSatisfy { PeerAddress(host: $0, port: 0)?.ipv4Bytes != nil }
    }

    private func addressBytes(_ family: Family) -> [UInt8] {
        let ends = [source, destination].compactMap { $0 }
        let addresses = ends.flatMap { end -> [UInt8] in
            let number = PeerAddress(end)?.number ?? 0
            return switch family {
            case .ipv4: Self.big(UInt32(truncatingIfNeeded: number))
            case .ipv6: Self.big(number)
            case .unix: Self.padded(end)
            }
        }
        return addresses + ends.flatMap { end in end.port.map { Self.big($0) } ?? [] }
    }

    /// A path, cut or padded with zeros to the 108 bytes of its field.
    private static func padded(_ end: SocketAddress) -> [UInt8] {
        guard case .unix(let path) = end else { return [] }
        let bytes = Array(path.utf8.prefix(108))
        return bytes + [UInt8](repeating: 0, count: 108 - bytes.count)
    }

    private var values: [UInt8] {
        var values: [UInt8] = []
        if let applicationProtocol {
            values += Self.value(.applicationProtocol, applicationProtocol)
        }
        if let authority { values += Self.value(.authority, Array(authority.utf8)) }
        if let uniqueID { values += Self.value(.uniqueID, uniqueID) }
        if let tls { values += Self.value(.tls, tls.bytes) }
        return values
    }

    fileprivate static func value(_ type: ProxyValueType, _ content: [UInt8]) -> [UInt8] {
        precondition(content.count <= 0xFFFF, "a value has at most 65,535 bytes")
        return [type.rawValue] + big(UInt16(content.count)) + content
    }

    fileprivate static func big<Number: FixedWidthInteger & UnsignedInteger>(
        _ number: Number
    ) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: number >> Number($0))
        }
    }
}

extension ProxyHeader.TLS {
    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = [1 | (hasCertificate ? 2 : 0)] + ProxyHeader.big(verifyResult)
        let values: [(ProxyValueType, String?)] = [
            (.tlsVersion, version), (.tlsCipher, cipher), (.tlsCommonName, commonName),
        ]
        for (type, text) in values {
            if let text { bytes += ProxyHeader.value(type, Array(text.utf8)) }
        }
        return bytes
    }
}
