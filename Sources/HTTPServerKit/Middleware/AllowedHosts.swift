internal import HTTPParser

/// The host names under which a server is reached.
///
/// An attacker can make the host name of a page resolve to the address of a local server (DNS
/// rebinding). To the browser, page and server then have the same origin, and the page can read the
/// server's answers. The requests still name the attacker's host, which is not allowed here.
public struct AllowedHosts: Sendable, Hashable {
    /// Whether IP addresses are allowed. They cannot be rebound.
    public var allowsAddresses = true
    /// Whether `localhost` and names that end with `.localhost` are allowed. Browsers resolve them
    /// without DNS.
    public var allowsLocalhost = true
    private var names: Set<String> = []
    private var suffixes: Set<String> = []

    /// Creates a list.
    /// - Parameter names: host names in any case, without ports. `*.local` allows all names below
    ///   `local`.
    public init(_ names: [String] = []) {
        for name in names { allow(name) }
    }

    /// Adds a name, in the form that ``init(_:)`` accepts.
    public mutating func allow(_ name: String) {
        if name.hasPrefix("*.") {
            suffixes.insert(Self.canonical(name.dropFirst(2)))
        } else {
            names.insert(Self.canonical(name[...]))
        }
    }

    /// Whether a host is allowed.
    /// - Parameter authority: host and optional port, as in the Host field; IPv6 in brackets.
    public func contains(_ authority: String) -> Bool {
        // Fast path: most requests to a local server name its address.
        if allowsAddresses, Self.isIPv4(authority.utf8) { return true }
        // A host is ASCII (RFC 3986 section 3.2.2), which compares byte by byte.
        guard authority.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        // No name is longer (RFC 1035 section 2.3.4), and the search below for a suffix takes time
        // that grows with the square of the length.
        guard authority.utf8.count <= Self.longest else { return false }
        if names.contains(authority) { return true }
        if authority.hasPrefix("[") {
            let isAddress = unsafe Array(authority.utf8).withUnsafeBytes {
                unsafe TargetGrammar.isIPv6Literal($0)
            }
            guard isAddress, let end = authority.firstIndex(of: "]") else { return false }
            return allowsAddresses
                || names.contains(Self.canonical(authority[..<end].dropFirst()))
        }
        let host = Self.canonical(authority.prefix { $0 != ":" })
        if names.contains(host) { return true }
        if allowsLocalhost, host == "localhost" || host.hasSuffix(".localhost") { return true }
        if allowsAddresses, Self.isIPv4(host.utf8) { return true }
        guard !suffixes.isEmpty else { return false }
        var rest = host[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if suffixes.contains(String(rest)) { return true }
        }
        return false
    }

    /// The bytes of the longest name, its final dot, and a port with its colon.
    private static let longest = 253 + 1 + 6

    /// Whether a host is an IP address, which no name server can change.
    /// - Parameter authority: host and optional port, as in the Host field; IPv6 in brackets.
    static func isAddress(_ authority: String) -> Bool {
        // A valid host with brackets is IPv6 (RFC 3986 section 3.2.2).
        authority.hasPrefix("[") || isIPv4(authority.utf8)
    }

    /// The name in lower case and without the final dot of a fully qualified name.
    private static func canonical(_ name: some StringProtocol) -> String {
        let text = name.lowercased()
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Whether a host has the form of four decimal numbers. Browsers send no other spelling of
    /// IPv4.
    /// - Parameter host: a host. A colon and the bytes after it are ignored.
    private static func isIPv4(_ host: String.UTF8View) -> Bool {
        unsafe host.withContiguousStorageIfAvailable { unsafe isIPv4($0) } ?? isIPv4(Array(host))
    }

    static func isIPv4(_ host: some Collection<UInt8>) -> Bool {
        var (dots, digits) = (0, 0)
        for byte in host {
            if byte == UInt8(ascii: ":") { break }
            if byte == UInt8(ascii: "."), digits > 0 {
                (dots, digits) = (dots + 1, 0)
            } else if 0x30...0x39 ~= byte, digits < 3 {
                digits += 1
            } else {
                return false
            }
        }
        return dots == 3 && digits > 0
    }
}
