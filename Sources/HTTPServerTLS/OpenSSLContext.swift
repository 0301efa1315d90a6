internal import CTLSShims

/// OpenSSL's object for one certificate and all settings (`SSL_CTX`).
@safe
final class OpenSSLContext: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer
    /// The keys must outlive the context.
    private let keys: TicketKeys

    init(
        _ configuration: TLSConfiguration, _ certificate: TLSCertificate, _ keys: TicketKeys
    ) throws(TLSError) {
        let chain = try certificate.chain.read()
        let key = try certificate.key.read()
        let version: CInt = configuration.minimumVersion == .tls13 ? 0x0304 : 0x0303
        guard
            let pointer = unsafe http_tls_context(
                version, configuration.ciphers, configuration.cipherSuites)
        else { throw TLSError(.unknownCiphers, "") }
        unsafe self.pointer = pointer
        self.keys = keys
        let problem = unsafe http_tls_use(pointer, chain, chain.count, key, key.count)
        if let kind = TLSError.Kind(problem) {
            let isOfKey = kind == .noKey || kind == .encryptedKey || kind == .keyDoesNotMatch
            throw TLSError(kind, (isOfKey ? certificate.key : certificate.chain).place)
        }
        try verifyClients(configuration.clientAuthentication)
        // Clients of HTTP/1.0, such as curl, may offer only `http/1.0`.
        let protocols: [UInt8] = [8] + Array("http/1.1".utf8) + [8] + Array("http/1.0".utf8)
        unsafe http_tls_set_protocols(pointer, protocols, CUnsignedInt(protocols.count))
        unsafe http_tls_set_keys(pointer, keys.pointer)
    }

    deinit { unsafe http_tls_context_free(pointer) }

    private func verifyClients(
        _ authentication: TLSConfiguration.ClientAuthentication
    ) throws(TLSError) {
        let (authorities, isRequired): (TLSMaterial, Bool)
        switch authentication {
        case .none: return
        case .optional(let material): (authorities, isRequired) = (material, false)
        case .required(let material): (authorities, isRequired) = (material, true)
        }
        let bytes = try authorities.read()
        let count = unsafe http_tls_verify_clients(pointer, bytes, bytes.count, isRequired ? 1 : 0)
        guard count > 0 else { throw TLSError(.noAuthorities, authorities.place) }
    }

    /// The seconds since the epoch at which the certificate expires.
    var expiry: Int64 { unsafe http_tls_expiry(pointer) }

    /// The DNS names of the certificate.
    var names: [String] {
        var found: [String] = []
        unsafe withUnsafeMutablePointer(to: &found) { list in
            unsafe http_tls_names(
                pointer,
                { list, name, length in
                    guard let list = unsafe list, let name = unsafe name else { return }
                    let bytes = unsafe UnsafeRawBufferPointer(start: name, count: length)
                    // A name that contains NUL is a forgery.
                    guard unsafe !bytes.contains(0) else { return }
                    unsafe list.assumingMemoryBound(to: [String].self).pointee
                        .append(String(decoding: bytes, as: UTF8.self))
                }, list)
        }
        return found
    }
}

extension TLSError.Kind {
    /// The kind of a problem with a certificate and its key; `nil` if they can be used.
    fileprivate init?(_ problem: CInt) {
        switch Int(problem) {
        case HTTP_TLS_PAIR_USABLE: return nil
        case HTTP_TLS_NO_KEY: self = .noKey
        case HTTP_TLS_ENCRYPTED_KEY: self = .encryptedKey
        case HTTP_TLS_NO_MATCH: self = .keyDoesNotMatch
        case HTTP_TLS_EXPIRED: self = .expired
        case HTTP_TLS_NOT_YET_VALID: self = .notYetValid
        case HTTP_TLS_MUST_STAPLE: self = .mustStaple
        case HTTP_TLS_WEAK: self = .weak
        default: self = .noCertificate
        }
    }
}
