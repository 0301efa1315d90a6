/// One of the two families of Internet addresses.
public enum AddressFamily: Hashable, Sendable, CustomStringConvertible {
    /// RFC 791.
    case ipv4
    /// RFC 8200.
    case ipv6

    /// `IPv4` or `IPv6`.
    public var description: String {
        switch self {
        case .ipv4: "IPv4"
        case .ipv6: "IPv6"
        }
    }
}
