public import HTTPServerCore

extension ServerConfiguration {
    /// Creates a configuration with which errors have the form that Accept selects, and gzip and
    /// deflate in requests are decoded. With `init(bare:)` neither is the case.
    /// - Parameter endpoints: the endpoints to listen at. If one fails, the server does not start.
    public init(endpoints: [Endpoint]) {
        self.init(bare: endpoints)
        errorRenderer = .negotiated
        contentDecoder = ContentCodings()
    }

    /// Creates a configuration that listens at one host and port, with the same defaults.
    /// - Parameters:
    ///   - host: a name or an address; `localhost` and `*` mean IPv4 and IPv6.
    ///   - port: the port, 0 for any free one.
    public init(host: String = "localhost", port: UInt16 = 8080) {
        self.init(endpoints: [.tcp(host: host, port: port)])
    }

    /// Whether request content that is coded with gzip or deflate is decoded before handlers read
    /// it. Other codings then get 415. `contentLimit` applies to the coded and to the decoded
    /// content. Handlers can still read the coded content with `RequestBody.raw`.
    public var decodesContent: Bool {
        get { codings.isOn }
        set { codings.isOn = newValue }
    }

    /// The highest ratio of decoded to coded bytes, once the decoded bytes exceed 1 MiB. A higher
    /// ratio gets 413. Text rarely exceeds 20; a decompression bomb comes near 1000.
    public var contentExpansionLimit: Int64 {
        get { codings.expansionLimit }
        set { codings.expansionLimit = newValue }
    }

    /// The kit's decoder; off if `contentDecoder` is missing or another one.
    private var codings: ContentCodings {
        get {
            if let codings = contentDecoder as? ContentCodings { return codings }
            var codings = ContentCodings()
            codings.isOn = false
            return codings
        }
        set { contentDecoder = newValue }
    }
}

extension HTTPServer {
    /// Creates a server for port 8080 of `localhost`. It does nothing until it is started.
    public convenience init(handler: some Handler) {
        self.init(ServerConfiguration(), handler: handler)
    }
}
