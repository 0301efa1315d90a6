import ArgumentParser
import HTTPParser
internal import ToolkitSystem
import URLClient

/// How to reach the server, and with which user.
struct FetchConnectionOptions: ParsableArguments {
    enum Version: String, EnumerableFlag { case http1, http2 }

    @Option(
        help: ArgumentHelp(
            "Connect to this host[:port], :port or unix:path instead of the URL's host, which stays "
                + "the name in Host, SNI and certificate.", valueName: "place"))
    var connectTo: String?

    @Option(help: ArgumentHelp("The most redirects to follow.", valueName: "n"))
    var maxRedirects = 20

    @Option(
        name: [.customShort("u"), .long],
        help: ArgumentHelp(
            "User name and password to send when the server requires a login.",
            discussion: "Other users of this machine can see the arguments of programs.",
            valueName: "name:password"))
    var user: String?

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "Read cookies from this file and store them there, in the format of cookies.txt.",
            valueName: "file"))
    var cookieJar: String?

    @Flag(
        name: [.customShort("k"), .long],
        help: "Do not verify the server's certificate: any machine can pose as the server.")
    var insecure = false

    @Option(help: ArgumentHelp("Trust the authorities of this PEM file.", valueName: "file"))
    var cacert: String?

    @Flag(help: "Use this version of HTTP; http2 without TLS assumes that the server supports it.")
    var version: Version?

    @Option(
        name: [.customShort("m"), .long, .customLong("max-time")],
        help: ArgumentHelp("The most time for the whole transfer.", valueName: "seconds"))
    var timeout: Double?

    @Option(
        help: ArgumentHelp(
            "The most bytes a second, in each direction, such as 200k or 1m; 0 for any number.",
            valueName: "rate"))
    var limitRate: ByteCount?

    func validate() throws {
        if let connectTo { _ = try Self.target(connectTo) }
        if maxRedirects < 0 { throw ValidationError("--max-redirects takes a number") }
        if let timeout, !(timeout > 0 && timeout < 1e9) {
            throw ValidationError("--timeout takes a number of seconds")
        }
        if let user, !user.contains(":") || user.hasPrefix(":") {
            throw ValidationError("--user takes NAME:PASSWORD")
        }
    }

    /// Parses `HOST`, `HOST:PORT`, `:PORT` or `unix:PATH`. An IPv6 address before a port is in
    /// brackets.
    static func target(_ text: String) throws -> ConnectTarget {
        let refusal = ValidationError("--connect-to takes HOST, HOST:PORT, :PORT or unix:PATH")
        if text.hasPrefix("unix:") { return .unixSocket(String(text.dropFirst(5))) }
        let colons = text.filter { $0 == ":" }.count
        let isPlain = colons == 0 || (colons > 1 && !text.hasPrefix("["))
        // Several colons without brackets: an IPv6 address, or curl's form of two hosts, which is
        // refused.
        if colons > 1, isPlain, RawSocketAddress.bytes(String(text.prefix { $0 != "%" })) == nil {
            throw refusal
        }
        if isPlain || text.hasSuffix("]") {
            guard !text.isEmpty else { throw refusal }
            return ConnectTarget(host: text)
        }
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]), port > 0
        else { throw refusal }
        let host = String(text[..<colon])
        return ConnectTarget(host: host.isEmpty ? nil : host, port: port)
    }

    /// The configuration of a session with these options.
    /// - Parameter url: the URL whose server may get the password.
    func configuration(for url: String) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.userAgent = "httpkit/\(HTTPKit.version)"
        configuration.tls.verifiesServer = !insecure
        if let cacert { configuration.tls.authorities = .file(cacert) }
        if let timeout { configuration.timeouts.total = .seconds(timeout) }
        if let limitRate, limitRate.bytes > 0 {
            configuration.receiveBytesPerSecond = limitRate.bytes
            configuration.sendBytesPerSecond = limitRate.bytes
        }
        configuration.redirects.limit = maxRedirects
        configuration.redirects.isEnabled = maxRedirects > 0
        configuration.cookies = cookieJar.map { CookieStorage(file: $0, format: .netscape) }
        // Redirects may set cookies that the next request needs.
        if cookieJar == nil { configuration.cookies = CookieStorage() }
        configuration.cache = nil
        if let user, let origin = FetchAddress.origin(of: url) {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            configuration.authentication.credentials.set(
                .password(user: String(parts[0]), password: String(parts[1])), for: origin)
        }
        return configuration
    }

    func apply(to request: inout ClientRequest) throws {
        try Self.apply(connectTo, version, to: &request)
    }

    static func apply(
        _ connectTo: String?, _ version: Version?, to request: inout ClientRequest
    ) throws {
        if let connectTo { request.connectTo = try target(connectTo) }
        switch version {
        case .http1: request.protocols = .http1
        case .http2:
            let isPlain = request.origin?.scheme == "http"
            request.protocols = isPlain ? .http2PriorKnowledge : .automatic
        case nil: break
        }
    }
}
