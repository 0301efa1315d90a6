internal import HTTPParser

/// Bytes that are not a header of the PROXY protocol: what is wrong, and where.
public struct ProxyHeaderError: Error, Hashable, Sendable {
    /// The kind of a violation.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// The bytes begin neither as version 1 nor as version 2.
        case noProxyHeader
        /// The version is none that exists, or none that is accepted.
        case unsupportedVersion
        /// The command is neither LOCAL nor PROXY.
        case invalidCommand
        /// The family or the transport protocol is none that exists.
        case invalidFamily
        /// An address is ill-formed, or not of the family.
        case invalidAddress
        /// A port is not a number up to 65535 without leading zeros.
        case invalidPort
        /// The line has a wrong separator or does not end with CRLF.
        case invalidLine
        /// The header is longer than the limit.
        case tooLong
        /// The announced length has no room for the addresses.
        case tooShort
        /// A value does not fit into the header, or its content is not of its type.
        case invalidValue
        /// A type that may come once came again.
        case repeatedValue
        /// The checksum is not that of the header.
        case wrongChecksum
        /// The input ended inside of the header.
        case truncated
    }

    /// The kind of the violation.
    public let kind: Kind
    /// Where: the byte that spoils the header, or the first byte beyond a limit.
    public let offset: Int

    /// Creates an error.
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension ProxyHeaderError: CustomStringConvertible {
    /// Kind and place in one line, such as `invalid port at byte 38`.
    public var description: String { "\(lowercaseWords(of: kind.rawValue)) at byte \(offset)" }
}
