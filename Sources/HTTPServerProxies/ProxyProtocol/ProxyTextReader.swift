internal import HTTPServerCore
internal import ToolkitSystem

/// Reads version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`, CR, LF, at most 107 bytes.
struct ProxyTextReader: Sendable {
    private enum Word: Sendable {
        case name, family, source, destination, sourcePort, destinationPort, ignored, lineFeed
    }

    static let name = Array("PROXY ".utf8)
    private static let families = ["TCP4", "TCP6", "UNKNOWN"].map { Array($0.utf8) }
    private static let lengthLimit = 107
    private static let blank = UInt8(ascii: " ")
    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A

    private var word = Word.name
    private var text: [UInt8] = []
    private var isIPv6 = false
    private var hosts: [String] = []
    private var ports: [UInt16] = []

    /// - Returns: the header after its last byte.
    mutating func take(_ byte: UInt8, at offset: Int) throws(ProxyHeaderError) -> ProxyHeader? {
        // The last two bytes of the longest line are CR and LF.
        let room = Self.lengthLimit - offset
        guard room > 2 || word == .lineFeed || (room == 2 && byte == Self.carriageReturn) else {
            throw ProxyHeaderError(.tooLong, at: offset)
        }
        switch word {
        case .name: try takeName(byte, at: offset)
        case .family: try takeFamily(byte, at: offset)
        case .source, .destination: try takeAddress(byte, at: offset)
        case .sourcePort, .destinationPort: try takePort(byte, at: offset)
        case .ignored:
            // The rest of the line is ignored, but a bare LF could end the line for another reader.
            guard byte != Self.lineFeed else { throw ProxyHeaderError(.invalidLine, at: offset) }
            if byte == Self.carriageReturn { word = .lineFeed }
        case .lineFeed:
            guard byte == Self.lineFeed else { throw ProxyHeaderError(.invalidLine, at: offset) }
            return header
        }
        return nil
    }

    private var header: ProxyHeader {
        guard hosts.count == 2, ports.count == 2 else { return ProxyHeader(.proxy) }
        let ends = zip(hosts, ports).map { host, port in
            isIPv6 ? SocketAddress.ipv6(host, port: port) : .ipv4(host, port: port)
        }
        return ProxyHeader(.proxy, source: ends[0], destination: ends[1])
    }

    private mutating func takeName(_ byte: UInt8, at offset: Int) throws(ProxyHeaderError) {
        guard byte == Self.name[offset] else { throw ProxyHeaderError(.noProxyHeader, at: offset) }
        if offset == Self.name.count - 1 { word = .family }
    }

    private mutating func takeFamily(_ byte: UInt8, at offset: Int) throws(ProxyHeaderError) {
        let isUnknown = text == Self.families[2]
        switch byte {
        case Self.blank where text == Self.families[0] || text == Self.families[1]:
            isIPv6 = text == Self.families[1]
            begin(.source)
        case Self.blank where isUnknown: begin(.ignored)
        case Self.carriageReturn where isUnknown: begin(.lineFeed)
        default:
            text.append(byte)
            guard Self.families.contains(where: { $0.starts(with: text) }) else {
                throw ProxyHeaderError(.invalidFamily, at: offset)
            }
        }
    }

    private mutating func takeAddress(_ byte: UInt8, at offset: Int) throws(ProxyHeaderError) {
        guard byte == Self.blank else {
            text.append(byte)
            guard isAddressByte(byte), text.count <= (isIPv6 ? 39 : 15) else {
                throw ProxyHeaderError(.invalidAddress, at: offset)
            }
            return
        }
        let host = String(decoding: text, as: UTF8.self)
        guard let address = PeerAddress(host: host, port: 0)?.address,
            (address == .ipv6(address.host, port: 0)) == isIPv6
        else { throw ProxyHeaderError(.invalidAddress, at: offset) }
        hosts.append(address.host)
        begin(word == .source ? .destination : .sourcePort)
    }

    private func isAddressByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "."): true
        case 0x41...0x46, 0x61...0x66, UInt8(ascii: ":"): isIPv6
        default: false
        }
    }

    private mutating func takePort(_ byte: UInt8, at offset: Int) throws(ProxyHeaderError) {
        let end = word == .sourcePort ? Self.blank : Self.carriageReturn
        if byte == end, let port = UInt16(String(decoding: text, as: UTF8.self)) {
            ports.append(port)
            return begin(word == .sourcePort ? .destinationPort : .lineFeed)
        }
        let isLeadingZero = text.first == UInt8(ascii: "0")
        text.append(byte)
        guard 0x30...0x39 ~= byte, !isLeadingZero,
            UInt16(String(decoding: text, as: UTF8.self)) != nil
        else { throw ProxyHeaderError(.invalidPort, at: offset) }
    }

    private mutating func begin(_ next: Word) {
        word = next
        text.removeAll(keepingCapacity: true)
    }
}
