public import HTTPServerCore

extension ServerConfiguration {
    /// Creates a configuration that tells errors in the form that a client likes, and takes gzip and
    /// deflate off requests; `init(bare:)` does neither.
    /// - Parameter endpoints: where to listen; each of them has to succeed.
    public init(endpoints: [Endpoint]) {
        self.init(bare: endpoints)
        errorRenderer = .negotiated
        contentDecoder = ContentCodings()
    }

    /// Creates a configuration that listens at one host and port, with the same defaults.
    /// - Parameters:
    ///   - host: a name or an address; `localhost` and `*` stand for both families.
    ///   - port: the port, 0 for any free one.
    public init(host: String = "localhost", port: UInt16 = 8080) {
        self.init(endpoints: [.tcp(host: host, port: port)])
    }

    /// Whether the content coding of requests, gzip or deflate, is taken off before handlers read
    /// the content; others are 415 then. `contentLimit` holds for both forms. A handler can read
    /// the coded form by `RequestBody.raw` all the same.
    public var decodesContent: Bool {
        get { codings.isOn }
        set { codings.isOn = newValue }
    }

    /// How many bytes a byte of coded content may stand for once they are more than 1 MiB; above
    /// it 413. Text rarely exceeds 20, a bomb comes near 1000.
    public var contentExpansionLimit: Int64 {
        get { codings.expansionLimit }
        set { codings.expansionLimit = newValue }
    }

    /// The decoder of the kit; off in the configuration of a bare server.
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
    /// Creates a server that listens at port 8080 of this machine; it does nothing until it is
    /// started.
    public convenience init(handler: some Handler) {
        self.init(ServerConfiguration(), handler: handler)
    }
}
