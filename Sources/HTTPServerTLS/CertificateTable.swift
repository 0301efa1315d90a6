internal import CTLSShims

/// The certificates of a server, by the names that they contain. The table is immutable: a reload
/// creates another one, and open connections keep theirs.
final class CertificateTable: Sendable {
    /// The certificate for a client that asks for no name or an unknown name.
    let first: OpenSSLContext
    private let exact: [String: OpenSSLContext]
    /// The certificates with a wildcard, by the name after the first label.
    private let wildcards: [String: OpenSSLContext]
    /// The time at which the first of the certificates expires, in seconds since the epoch.
    let expiry: Int64

    init(_ configuration: TLSConfiguration, keys: TicketKeys) throws(TLSError) {
        var contexts: [OpenSSLContext] = []
        for certificate in configuration.certificates {
            contexts.append(try OpenSSLContext(configuration, certificate, keys))
        }
        guard let first = contexts.first else { throw TLSError(.noCertificate, "") }
        self.first = first
        expiry = contexts.map(\.expiry).min() ?? 0
        var exact: [String: OpenSSLContext] = [:]
        var wildcards: [String: OpenSSLContext] = [:]
        for context in contexts {
            for name in context.names.map(Self.normalized) {
                if name.hasPrefix("*.") {
                    let rest = String(name.dropFirst(2))
                    if wildcards[rest] == nil { wildcards[rest] = context }
                } else if exact[name] == nil {
                    exact[name] = context
                }
            }
        }
        self.exact = exact
        self.wildcards = wildcards
        if contexts.count > 1 { setChoice() }
    }

    /// Makes OpenSSL choose the certificate of a connection from this table. The unretained pointer
    /// is safe: OpenSSL calls back only for connections, which keep the table.
    private func setChoice() {
        unsafe http_tls_set_choice(
            first.pointer,
            { table, name in
                guard let table = unsafe table, let name = unsafe name else { return nil }
                let unmanaged = unsafe Unmanaged<CertificateTable>.fromOpaque(table)
                let found = unsafe unmanaged.takeUnretainedValue()
                return unsafe found.context(for: String(cString: name))?.pointer
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The certificate for a name: the exact name first, then a wildcard for the whole first label
    /// (RFC 6125 section 6.4).
    func context(for name: String) -> OpenSSLContext? {
        // No name is longer (RFC 1035 section 2.3.4), and a longer text must not cost time.
        guard name.utf8.count <= 255 else { return nil }
        let name = Self.normalized(name)
        if let found = exact[name] { return found }
        guard let dot = name.firstIndex(of: "."), dot > name.startIndex else { return nil }
        return wildcards[String(name[name.index(after: dot)...])]
    }

    /// The name in lower case and without a final dot.
    private static func normalized(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
