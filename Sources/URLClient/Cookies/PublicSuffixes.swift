#if canImport(CLibPSL)
    internal import CLibPSL
#endif

/// Knows the public suffixes: domains such as `co.uk`, below which anyone can register names. A
/// cookie for a whole public suffix would be sent to strangers (RFC 6265bis, section 5.7).
public protocol PublicSuffixes: Sendable {
    /// Whether the domain is a public suffix.
    /// - Parameter domain: a domain in lower case and ASCII, without a leading or final dot.
    func isPublicSuffix(_ domain: String) -> Bool
}

extension PublicSuffixes {
    /// The registrable domain of a host: the public suffix and one more label; the host itself if
    /// there is none.
    func site(of host: String) -> String {
        // DNS names are not longer (RFC 1035 section 2.3.4).
        guard host.utf8.count <= 253 else { return host }
        var site = host
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            let parent = rest[rest.utf8.index(after: dot)...]
            if isPublicSuffix(String(parent)) { return String(rest) }
            site = String(rest)
            rest = parent
        }
        return site
    }
}

/// For systems without a list: only top-level domains are public suffixes.
public struct TopLevelDomains: PublicSuffixes {
    /// Creates the list.
    public init() {}

    /// Whether the domain has no dot.
    public func isPublicSuffix(_ domain: String) -> Bool {
        !domain.utf8.contains(UInt8(ascii: "."))
    }
}

#if canImport(CLibPSL)
    /// The list of publicsuffix.org that is built into libpsl.
    public struct SystemPublicSuffixes: PublicSuffixes {
        /// Creates access to the list.
        public init() {}

        /// Whether the domain is a public suffix by the list, or by its default rule.
        public func isPublicSuffix(_ domain: String) -> Bool {
            // The list that is compiled in; it is constant and never freed.
            guard let list = unsafe psl_builtin() else {
                return TopLevelDomains().isPublicSuffix(domain)
            }
            return unsafe psl_is_public_suffix(list, domain) == 1
        }
    }
#else
    /// Without libpsl, as in Apple's SDKs, only top-level domains are public suffixes.
    public typealias SystemPublicSuffixes = TopLevelDomains
#endif
