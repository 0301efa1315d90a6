#if canImport(CLibPSL)
    internal import CLibPSL
#endif

/// Knows the domains below which anybody can register names, such as `co.uk`: a cookie for all of
/// one would go to strangers (RFC 6265bis, section 5.7).
public protocol PublicSuffixes: Sendable {
    /// Whether the domain is one below which names are registered.
    /// - Parameter domain: in lower case and ASCII, without a dot at its ends.
    func isPublicSuffix(_ domain: String) -> Bool
}

extension PublicSuffixes {
    /// The domain of one owner: the public suffix and the label before it; the host itself where
    /// there is none.
    func site(of host: String) -> String {
        // No name of the DNS is longer (RFC 1035 section 2.3.4).
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

/// For systems without a list: top-level domains are public suffixes, and nothing else is known.
public struct TopLevelDomains: PublicSuffixes {
    /// Creates the list.
    public init() {}

    /// Whether there is no dot in it.
    public func isPublicSuffix(_ domain: String) -> Bool {
        !domain.utf8.contains(UInt8(ascii: "."))
    }
}

#if canImport(CLibPSL)
    /// The list of publicsuffix.org that libpsl brings with it.
    public struct SystemPublicSuffixes: PublicSuffixes {
        /// Creates access to the list.
        public init() {}

        /// Whether the list, or its rule for what it does not name, says so.
        public func isPublicSuffix(_ domain: String) -> Bool {
            // The list that is compiled in; it is constant and never freed.
            guard let list = unsafe psl_builtin() else {
                return TopLevelDomains().isPublicSuffix(domain)
            }
            return unsafe psl_is_public_suffix(list, domain) == 1
        }
    }
#else
    /// Apple's SDKs have no list, and neither has this version there: top-level domains alone.
    public typealias SystemPublicSuffixes = TopLevelDomains
#endif
