internal import CCurlShims
internal import HTTPParser

// The settings of a transaction. Options that are not set keep libcurl's default, or the value of the
// previous transaction.
extension EasyHandle {
    /// Sets the options of a transaction; only the changed ones if it is like the previous
    /// transaction.
    func configure(_ transaction: TransferSettings, for receiver: TransferReceiver) {
        // Requests other than plain GET are rare enough to reset the handle before and after them.
        let isPlain = transaction.upload == nil && transaction.method == .get
        if route == nil || route !== transaction.route || !isPlain {
            if route != nil { reset() }
            prepare()
            setConnection(transaction)
            setTarget(transaction)
            setProxy(transaction)
            if transaction.needsStart { watchStart() }
            if transaction.route.isSecure {
                setTLS(transaction)
                watchTLS(asksAboutTrust: transaction.route.trust != nil)
            }
            setMethod(transaction)
            route = transaction.route
        }
        attach(receiver)
        if url != transaction.wire.text {
            url = transaction.wire.text
            setURL(url)
        }
        if !isPlain || transaction.overrides?.cookieBytes != nil
            || sentFields.map({ !transaction.fields.isKnownSame(as: $0) }) ?? true
        {
            setFieldLines(transaction)
            sentFields = transaction.overrides?.cookieBytes == nil ? transaction.fields : nil
        }
        if !isPlain { isSpent = true }
    }

    private func setMethod(_ transaction: TransferSettings) {
        if let upload = transaction.upload {
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_INFILESIZE_LARGE, size: upload.length ?? -1)
            let usual = upload.length ?? .max > 256 << 10 ? 512 << 10 : 64 << 10
            let rate = transaction.route.sendBytesPerSecond ?? .max
            set(CURLOPT_UPLOAD_BUFFERSIZE, min(usual, max(16 << 10, Int(clamping: rate))))
            if transaction.method != .put { set(CURLOPT_CUSTOMREQUEST, transaction.method.name) }
        } else if transaction.method == .head {
            set(CURLOPT_NOBODY, 1)
        } else if transaction.method != .get {
            set(CURLOPT_CUSTOMREQUEST, transaction.method.name)
        }
    }

    private func setFieldLines(_ transaction: TransferSettings) {
        freeFields()
        for field in transaction.fields where !Self.isOwn(field.name) {
            if field.name == .cookie, let bytes = transaction.overrides?.cookieBytes {
                addField(Array("Cookie: ".utf8) + bytes)
                continue
            }
            // libcurl takes `Name:` for a removal; `Name;` sends an empty value.
            addField(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if transaction.upload == nil, transaction.method.usuallyHasContent {
            addField("Content-Length: 0")
        }
        // libcurl obeys the first of several Expect lines.
        let hasExpect = transaction.fields.contains(.expect)
        if transaction.upload != nil, let wait = transaction.expectationWait {
            if !hasExpect { addField("Expect: 100-continue") }
            set(CURLOPT_EXPECT_100_TIMEOUT_MS, wait.milliseconds)
        } else if transaction.upload != nil, !hasExpect {
            addField("Expect:")
        }
        setFields()
    }

    /// Fields that are not taken from the request, although a delegate's redirect may contain them:
    /// libcurl writes its own, or they are for the proxy.
    private static func isOwn(_ name: HTTPFieldName) -> Bool {
        name == .contentLength || name == .transferEncoding || name == .proxyAuthorization
    }

    /// `RateLimiter` limits the receive rate, because libcurl 7.88 hardly does. Short pieces keep
    /// the pauses between them short.
    private func setRates(_ route: TransferRoute) {
        if let rate = route.receiveBytesPerSecond {
            let usual = route.receivesMuch ? ContentPiece.usualLength : Int(CURL_MAX_WRITE_SIZE)
            if rate / 4 < usual { set(CURLOPT_BUFFERSIZE, max(1_024, Int(rate / 4))) }
        }
        if let rate = route.sendBytesPerSecond {
            set(CURLOPT_MAX_SEND_SPEED_LARGE, size: max(1, rate))
        }
    }

    private func setConnection(_ transaction: TransferSettings) {
        let route = transaction.route
        set(
            CURLOPT_HTTP_VERSION, Int(route.protocols.curlVersion(isSecure: route.isSecure))
        )
        if route.isSecure {
            set(CURLOPT_PIPEWAIT, 1)
        } else if route.protocols == .http2PriorKnowledge,
            CurlFeatures.current.spoilsPriorKnowledge || transaction.tunnels
        {
            // Without TLS settings to compare, libcurl cannot distinguish the tunnels of two users.
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
        if route.allowsHTTP09 { set(CURLOPT_HTTP09_ALLOWED, 1) }
        if !route.keepsConnections { set(CURLOPT_FORBID_REUSE, 1) }
        set(CURLOPT_MAXAGE_CONN, max(1, route.idleConnectionTime.milliseconds / 1000))
        // Always set a limit: libcurl's default is five minutes.
        let connect = route.connectTimeout?.milliseconds ?? .max
        set(CURLOPT_CONNECTTIMEOUT_MS, min(max(1, connect), 1 << 30))
        if route.receivesMuch { set(CURLOPT_BUFFERSIZE, ContentPiece.usualLength) }
        setRates(route)
        switch route.resolver.family {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if let url = route.resolver.dohURL {
            set(CURLOPT_DOH_URL, url)
            // The certificate of the DoH server is checked for http requests as well.
            set(route.tls.authorities, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB)
        }
        if let time = route.resolver.cacheTime {
            set(CURLOPT_DNS_CACHE_TIMEOUT, time.milliseconds / 1000)
        }
        let overrides = route.resolver.overrides
            .filter { $0.isFor(transaction.wire.origin) }
            .map { "+\($0.host):\($0.port):\($0.addresses.joined(separator: ","))" }
        if !overrides.isEmpty { set(CURLOPT_RESOLVE, list: overrides) }
    }

    /// The host and port that CONNECT_TO matches stay empty: libcurl silently ignores an entry
    /// whose port is not the URL's.
    private func setTarget(_ transaction: TransferSettings) {
        switch transaction.route.target?.kind {
        case nil, .origin: break
        case .unixSocket(let path, let isAbstract):
            set(isAbstract ? CURLOPT_ABSTRACT_UNIX_SOCKET : CURLOPT_UNIX_SOCKET_PATH, path)
        case .network(let host, let port):
            let host = host ?? transaction.wire.origin.host
            let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
            set(
                CURLOPT_CONNECT_TO, list: ["::\(bracketed):\(port ?? transaction.wire.origin.port)"]
            )
        }
    }

    private func setProxy(_ transaction: TransferSettings) {
        // Empty values stop libcurl from reading the proxy variables of the environment.
        set(CURLOPT_NOPROXY, "")
        guard let proxy = transaction.route.proxy else { return set(CURLOPT_PROXY, "") }
        let host = proxy.host.utf8.contains(UInt8(ascii: ":")) ? "[\(proxy.host)]" : proxy.host
        set(CURLOPT_PROXY, "\(proxy.kind.rawValue)://\(host):\(proxy.port)")
        if proxy.kind == .https {
            setProxyTLS(proxy.tls ?? transaction.route.tls, isOwn: proxy.tls != nil)
        }
        if transaction.tunnels {
            set(CURLOPT_HTTPPROXYTUNNEL, 1)
            // The response to CONNECT is read, but never delivered.
            set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 0)
        }
        if transaction.overrides?.needsOwnTunnel == true {
            set(CURLOPT_FRESH_CONNECT, 1)
            set(CURLOPT_FORBID_REUSE, 1)
        }
        setProxyLogin(proxy, transaction.fields[.proxyAuthorization])
    }

    /// HTTP proxies get our Proxy-Authorization field; libcurl does not compare it, so
    /// `needsOwnTunnel` and `isApart` keep tunnels from being shared. SOCKS logins are compared by
    /// libcurl.
    private func setProxyLogin(_ proxy: ClientProxy, _ authorization: String?) {
        if let authorization {
            set(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
            set(CURLOPT_PROXYHEADER, list: ["Proxy-Authorization: \(authorization)"])
        }
        guard let user = proxy.user else { return }
        set(CURLOPT_PROXYUSERNAME, user)
        set(CURLOPT_PROXYPASSWORD, proxy.password ?? "")
        set(CURLOPT_PROXYAUTH, 0)
    }

    /// - Parameter isOwn: whether `tls` belongs to the proxy. If not, only its minimum version and
    ///   its authorities apply.
    private func setProxyTLS(_ tls: TLSOptions, isOwn: Bool) {
        set(CURLOPT_PROXY_SSLVERSION, Self.curlVersion(tls.minimumVersion))
        // An unverified server must not make the proxy unverified, which gets a password.
        if isOwn, !tls.verifiesServer {
            set(CURLOPT_PROXY_SSL_VERIFYPEER, 0)
            set(CURLOPT_PROXY_SSL_VERIFYHOST, 0)
        }
        set(tls.authorities, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAINFO_BLOB)
        guard isOwn else { return }
        if !tls.pinnedKeys.isEmpty {
            set(CURLOPT_PROXY_PINNEDPUBLICKEY, Self.pins(tls.pinnedKeys))
        }
        guard let client = tls.clientCertificate else { return }
        set(client.certificate, CURLOPT_PROXY_SSLCERT, CURLOPT_PROXY_SSLCERT_BLOB)
        set(client.key, CURLOPT_PROXY_SSLKEY, CURLOPT_PROXY_SSLKEY_BLOB)
        if let password = client.password { set(CURLOPT_PROXY_KEYPASSWD, password) }
    }

    private func set(_ source: TLSOptions.Source?, _ path: CURLoption, _ blob: CURLoption) {
        switch source {
        case nil: break
        case .file(let file): set(path, file)
        case .pem(let bytes): set(blob, bytes: bytes)
        }
    }

    private static func curlVersion(_ version: TLSOptions.Version) -> Int {
        switch version {
        case .tls12: Int(CURL_SSLVERSION_TLSv1_2)
        case .tls13: Int(CURL_SSLVERSION_TLSv1_3)
        }
    }

    private static func pins(_ keys: [String]) -> String {
        keys.map { "sha256//\($0)" }.joined(separator: ";")
    }

    private func setTLS(_ transaction: TransferSettings) {
        let tls = transaction.route.tls
        // OpenSSL has no later version. This only changes the settings that libcurl compares.
        let greatest = transaction.isApart ? Int(CURL_SSLVERSION_MAX_TLSv1_3) : 0
        set(CURLOPT_SSLVERSION, Self.curlVersion(tls.minimumVersion) | greatest)
        if !tls.verifiesServer {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        set(tls.authorities, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB)
        if !tls.pinnedKeys.isEmpty { set(CURLOPT_PINNEDPUBLICKEY, Self.pins(tls.pinnedKeys)) }
        guard let client = tls.clientCertificate else { return }
        set(client.certificate, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB)
        set(client.key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB)
        if let password = client.password { set(CURLOPT_KEYPASSWD, password) }
    }
}

extension TransferSettings {
    /// Whether transfers with other settings must not share the connection while it is in use.
    ///
    /// libcurl shares an HTTP/2 connection even while the transfer runs that must not share it.
    /// Before 8.5.0 it also takes a busy HTTP/1.1 connection for one that can be shared, once
    /// another connection to the host uses HTTP/2.
    fileprivate var isApart: Bool {
        if overrides?.needsOwnTunnel == true { return true }
        return CurlFeatures.current.version < 0x08_05_00
            && (route.protocols == .http1 || route.protocols == .http10)
    }
}

extension HTTPMethod {
    /// Whether servers expect content, so that a request without any sends `Content-Length: 0` (RFC
    /// 9110 section 8.6).
    fileprivate var usuallyHasContent: Bool { self == .post || self == .put || self == .patch }
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
