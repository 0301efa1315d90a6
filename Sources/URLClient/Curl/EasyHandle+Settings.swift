internal import CCurlShims
internal import HTTPParser

// A hop's settings. What a handle is not told has libcurl's default: it was reset before.
extension EasyHandle {
    /// Sets everything for a hop.
    func configure(_ hop: HopSettings, for transfer: Transfer) {
        attach(transfer)
        set(CURLOPT_URL, hop.wire.text)
        setMethod(hop)
        setFieldLines(hop)
        setConnection(hop)
        setTarget(hop)
        setProxy(hop.proxy)
        if hop.wire.origin.isSecure {
            setTLS(hop.tls)
            watchTLS(transfer, asksAboutTrust: hop.trust != nil)
        }
    }

    private func setMethod(_ hop: HopSettings) {
        if let upload = hop.upload {
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_INFILESIZE_LARGE, size: upload.length ?? -1)
            set(CURLOPT_UPLOAD_BUFFERSIZE, upload.length ?? .max > 256 << 10 ? 512 << 10 : 64 << 10)
            if hop.method != .put { set(CURLOPT_CUSTOMREQUEST, hop.method.name) }
        } else if hop.method == .head {
            set(CURLOPT_NOBODY, 1)
        } else if hop.method != .get {
            set(CURLOPT_CUSTOMREQUEST, hop.method.name)
        }
    }

    private func setFieldLines(_ hop: HopSettings) {
        for field in hop.fields {
            // Without a value libcurl would take the line for a removal.
            addField(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if hop.upload != nil, let wait = hop.expectationWait {
            addField("Expect: 100-continue")
            set(CURLOPT_EXPECT_100_TIMEOUT_MS, wait.milliseconds)
        } else if hop.upload != nil {
            addField("Expect:")
        }
        setFields()
    }

    private func setConnection(_ hop: HopSettings) {
        set(
            CURLOPT_HTTP_VERSION, Int(hop.protocols.curlVersion(isSecure: hop.wire.origin.isSecure))
        )
        if hop.wire.origin.isSecure { set(CURLOPT_PIPEWAIT, 1) }
        if hop.allowsHTTP09 { set(CURLOPT_HTTP09_ALLOWED, 1) }
        set(CURLOPT_MAXAGE_CONN, max(1, hop.idleConnectionTime.milliseconds / 1000))
        if let connect = hop.connectTimeout {
            set(CURLOPT_CONNECTTIMEOUT_MS, max(1, connect.milliseconds))
        }
        if hop.receivesMuch { set(CURLOPT_BUFFERSIZE, 128 << 10) }
        switch hop.resolver.family {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if let url = hop.resolver.dohURL { set(CURLOPT_DOH_URL, url) }
        if let time = hop.resolver.cacheTime {
            set(CURLOPT_DNS_CACHE_TIMEOUT, time.milliseconds / 1000)
        }
        let overrides = hop.resolver.overrides
            .filter { $0.host.lowercased() == hop.wire.origin.host }
            .filter { $0.port == hop.wire.origin.port }
            .map { "+\($0.host):\($0.port):\($0.addresses.joined(separator: ","))" }
        if !overrides.isEmpty { set(CURLOPT_RESOLVE, list: overrides) }
    }

    /// The match fields of CONNECT_TO stay empty: a port in them would have to be the URL's, and
    /// the entry would be passed over in silence where it is not.
    private func setTarget(_ hop: HopSettings) {
        switch hop.target?.kind {
        case nil, .origin: break
        case .unixSocket(let path, let isAbstract):
            set(isAbstract ? CURLOPT_ABSTRACT_UNIX_SOCKET : CURLOPT_UNIX_SOCKET_PATH, path)
        case .network(let host, let port):
            let host = host ?? hop.wire.origin.host
            let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            set(CURLOPT_CONNECT_TO, list: ["::\(bracketed):\(port ?? hop.wire.origin.port)"])
        }
    }

    private func setProxy(_ proxy: ClientProxy?) {
        // An empty name keeps libcurl from the variables of the environment.
        guard let proxy else { return set(CURLOPT_PROXY, "") }
        let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
        set(CURLOPT_PROXY, "\(proxy.kind.rawValue)://\(host):\(proxy.port)")
        set(CURLOPT_NOPROXY, "")
        if proxy.tunnels || proxy.scheme == .digest { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
        guard let user = proxy.user else { return }
        set(CURLOPT_PROXYUSERNAME, user)
        set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
        set(CURLOPT_PROXYAUTH, proxy.scheme == .digest ? 1 << 1 : 1 << 0)
    }

    private func setTLS(_ tls: TLSOptions) {
        switch tls.minimumVersion {
        case .tls12: set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        case .tls13: set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_3))
        }
        if !tls.verifiesServer {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        switch tls.authorities {
        case nil: break
        case .file(let path): set(CURLOPT_CAINFO, path)
        case .pem(let bytes): set(CURLOPT_CAINFO_BLOB, bytes: bytes)
        }
        if !tls.pinnedKeys.isEmpty {
            let keys = tls.pinnedKeys.map { "sha256//\($0)" }.joined(separator: ";")
            set(CURLOPT_PINNEDPUBLICKEY, keys)
        }
        guard let client = tls.clientCertificate else { return }
        switch client.certificate {
        case .file(let path): set(CURLOPT_SSLCERT, path)
        case .pem(let bytes): set(CURLOPT_SSLCERT_BLOB, bytes: bytes)
        }
        switch client.key {
        case .file(let path): set(CURLOPT_SSLKEY, path)
        case .pem(let bytes): set(CURLOPT_SSLKEY_BLOB, bytes: bytes)
        }
        if let password = client.password { set(CURLOPT_KEYPASSWD, password) }
    }
}

extension ProtocolPolicy {
    fileprivate func curlVersion(isSecure: Bool) -> UInt32 {
        switch self {
        case .automatic:
            isSecure && CurlFeatures.current.hasHTTP2
                ? UInt32(CURL_HTTP_VERSION_2TLS) : UInt32(CURL_HTTP_VERSION_1_1)
        case .http1: UInt32(CURL_HTTP_VERSION_1_1)
        case .http10: UInt32(CURL_HTTP_VERSION_1_0)
        case .http2PriorKnowledge: UInt32(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE)
        }
    }
}
