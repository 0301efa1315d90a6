internal import HTTPParser
package import ToolkitSystem

/// The sender of a request as a proxy names it (RFC 7239 section 6).
package enum ForwardedNode: Hashable, Sendable {
    /// An address; its port is 0 if the proxy named none, or an obfuscated one.
    case address(PeerAddress)
    /// `unknown`, or an identifier such as `_hidden` that only the proxy understands.
    case hidden

    /// - Parameters:
    ///   - text: the value of `for`, or an element of X-Forwarded-For.
    ///   - allowsBareIPv6: whether IPv6 may be without brackets, as in X-Forwarded-For.
    /// - Returns: `nil` for an ill-formed node.
    package init?(_ text: String, allowsBareIPv6: Bool) {
        // Longer than any name or address with a port.
        guard 1...128 ~= text.utf8.count else { return nil }
        if allowsBareIPv6, text.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1,
            !text.hasPrefix("[")
        {
            guard let address = PeerAddress(host: text, port: 0) else { return nil }
            self = .address(address)
            return
        }
        guard let (name, port) = Self.parts(text), let port = Self.port(port) else { return nil }
        if name.lowercased() == "unknown" || Self.isIdentifier(name) {
            self = .hidden
        } else if let address = Self.address(name, port) {
            self = .address(address)
        } else {
            return nil
        }
    }

    /// The name, with its brackets, and the port after the colon; `nil` for an unclosed bracket.
    private static func parts(_ text: String) -> (name: Substring, port: Substring?)? {
        var nameEnd = text.startIndex
        if text.hasPrefix("[") {
            guard let bracket = text.firstIndex(of: "]") else { return nil }
            nameEnd = text.index(after: bracket)
        }
        let rest = text[nameEnd...]
        guard let colon = rest.firstIndex(of: ":") else { return (text[...], nil) }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    private static func address(_ name: Substring, _ port: UInt16) -> PeerAddress? {
        guard name.hasPrefix("[") else {
            let address = PeerAddress(host: String(name), port: port)
            return address?.ipv4Bytes == nil ? nil : address
        }
        guard name.hasSuffix("]") else { return nil }
        let address = PeerAddress(host: String(name.dropFirst().dropLast()), port: port)
        return address?.ipv4Bytes == nil ? address : nil
    }

    /// node-port = 1*5DIGIT / obfport
    /// - Returns: 0 without a port or with an obfuscated one; `nil` for an ill-formed one.
    private static func port(_ text: Substring?) -> UInt16? {
        guard let text else { return 0 }
        if isIdentifier(text) { return 0 }
        guard 1...5 ~= text.utf8.count, text.utf8.allSatisfy(ByteClass.isDigit) else { return nil }
        return UInt16(text)
    }

    /// obfnode = "_" 1*( ALPHA / DIGIT / "." / "_" / "-" )
    private static func isIdentifier(_ text: Substring) -> Bool {
        guard text.utf8.first == UInt8(ascii: "_"), text.utf8.count > 1 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
    }
}
