internal import HTTPParser

/// The hosts and paths that a cookie matches.
extension CookieJar {
    /// The host in lower case, without a final dot (section 5.1.2): both forms name the same host.
    static func canonical(_ host: String) -> String {
        let host = host.lowercased()
        return host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    }

    /// Whether a host equals a domain or is below it. Addresses match only themselves (section
    /// 5.1.3).
    static func domainMatches(_ host: String, _ domain: String) -> Bool {
        if host.utf8.elementsEqual(domain.utf8) { return true }
        guard !domain.isEmpty, host.utf8.count > domain.utf8.count, hasSuffix(host, domain),
            !isAddress(host)
        else { return false }
        return host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
    }

    /// Compares bytes: for text from a peer, string comparison can take quadratic time.
    static func hasSuffix(_ text: String, _ end: String) -> Bool {
        text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8)
    }

    /// The host and all of its parent domains, at most 128.
    static func domains(of host: String) -> [String] {
        var all = [host]
        guard !isAddress(host) else { return all }
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")), all.count < 128 {
            rest = rest[rest.utf8.index(after: dot)...]
            if !rest.isEmpty { all.append(String(rest)) }
        }
        return all
    }

    /// Whether a host is an IPv6 address, or would be read as an IPv4 address because its last
    /// label is a number.
    static func isAddress(_ host: String) -> Bool {
        if host.utf8.contains(UInt8(ascii: ":")) { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last ?? host.utf8[...]
        guard let first = last.first, ByteClass.isDigit(first) else { return false }
        if last.allSatisfy(ByteClass.isDigit) { return true }
        let digits = last.dropFirst(2)
        return last.starts(with: "0x".utf8) && digits.allSatisfy { ByteClass.hexValue($0) != nil }
    }

    /// The path up to the last slash, exclusive; at least `/` (section 5.1.4).
    static func defaultPath(_ path: String) -> String {
        guard path.utf8.first == UInt8(ascii: "/"),
            let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.utf8.startIndex
        else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a path equals a cookie's path or is below it (section 5.1.4).
    static func pathMatches(_ path: String, _ cookiePath: String) -> Bool {
        if path.utf8.elementsEqual(cookiePath.utf8) { return true }
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        return cookiePath.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(cookiePath.utf8.count).first == UInt8(ascii: "/")
    }
}
