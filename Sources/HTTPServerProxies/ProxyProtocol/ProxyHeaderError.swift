internal import HTTPParser

/// The error for bytes that are not a header of the PROXY protocol, with its offset.
public struct ProxyHeaderError: Error, Hashable, Sendable {
    /// The kind of a violation.
    @nonexhaustive
    public enum Kind: String, Sendable, CaseIterable {
        /// The bytes begin neither as version 1 nor as version 2.
        case noProxyHeader
        /// The version does not exist, or is not accepted.
        case unsupportedVersion
        /// The command is neither LOCAL nor PROXY.
        case invalidCommand
        /// The family or the transport protocol does not exist.
        case invalidFamily
        /// An address is ill-formed, or not of the family.
        case invalidAddress
        /// A port is not a number up to 65535 without leading zeros.
        case invalidPort
        /// The line has a wrong separator or does not end with CRLF.
        case invalidLine
        /// The header is longer than the limit.
        case tooLong
        /// The announced length is too short for the addresses.
        case tooShort
        /// A value does not fit into the header, or its content is not of its type.
        case invalidValue
        /// A type of value that may occur only once was repeated.
        case repeatedValue
        /// The checksum does not match the header.
        case wrongChecksum
        /// The input ended inside of the header.
        case truncated
    }

    /// The kind of the violation.
    public let kind: Kind
    /// The offset of the invalid byte, or of the first byte beyond a limit.
    public let offset: Int

    /// Creates an error.
    public init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension ProxyHeaderError: CustomStringConvertible {
    /// Kind and offset in one line, such as `invalid port at byte 38`.
    public var description: String { "\(lowercaseWords(of: kind.rawValue)) at byte \(offset)" }
}
