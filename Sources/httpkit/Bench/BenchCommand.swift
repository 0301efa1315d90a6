import ArgumentParser
import HTTPParser
internal import ToolkitSystem
import URLClient

/// `httpkit bench`: how fast a server answers, measured from one process.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measure how fast a server answers one request that is sent repeatedly.",
        discussion: """
            Requests go over several connections; each waits for the previous response on its \
            connection. The default time is ten seconds. The report has the requests per second, \
            the statuses, and the latencies from the start of a request to the last byte of \
            content. A slow response delays the next request of its connection, so the percentiles \
            do not predict the latency for clients that send at a fixed rate. One session sends \
            all requests; it is the bottleneck for a server that answers many tens of thousands \
            per second. Client and server on one machine share its processors.

            Redirects are not followed, failures are not retried, content is not decoded. The \
            first request does not count. Its timeout is the time of the measurement, but at least \
            ten seconds; with --requests alone it has none. After its response, Control-C ends the \
            measurement early and shows the results until then.

            The exit status is 0 after at least one response, 2 without any, 23 if the report \
            cannot be written, 64 if the limit of open files is too low for the connections, and \
            that of fetch if the first request fails.
            """)

    @Argument(help: "An http or https URL; http:// may be omitted.")
    var url: String

    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "Concurrent requests, each on a separate connection with HTTP/1.1.",
            valueName: "n"))
    var connections = 50

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("End after this many requests.", valueName: "n"))
    var requests: Int?

    @Option(
        name: [.customShort("z"), .long],
        help: ArgumentHelp(
            "End after this time; 10 by default, without --requests.", valueName: "seconds"))
    var duration: Double?

    @Flag(help: "Print one object of JSON, with times in milliseconds.")
    var json = false

    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp("The method; by default GET, POST with -d.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field; can be given several times.", valueName: "name: value"))
    var fields: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("data")], parsing: .unconditional,
        help: ArgumentHelp("Content to send.", valueName: "data"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "Connect to this host[:port], :port or unix:path instead of the URL's host.",
            valueName: "place"))
    var connectTo: String?

    @Flag(
        name: [.customShort("k"), .long],
        help: "Do not verify the server's certificate.")
    var insecure = false

    @Flag(help: "Use this version of HTTP; http2 without TLS assumes that the server supports it.")
    var version: FetchConnectionOptions.Version?

    /// The most connections; each needs a file descriptor.
    private static let connectionLimit = 10_000
    /// The least timeout of the first request, which may include the server's warm-up and is not
    /// measured.
    private static let leastFirstTime = Duration.seconds(10)

    func validate() throws {
        guard (1...Self.connectionLimit).contains(connections) else {
            throw ValidationError("--connections takes a number from 1 to \(Self.connectionLimit)")
        }
        if let requests, requests < 1 {
            throw ValidationError("--requests takes a number of at least 1")
        }
        if let duration, !(duration > 0 && duration < 1e6) {
            throw ValidationError("--duration takes a number of seconds")
        }
        if let method, HTTPMethod(method) == nil {
            throw ValidationError("\(method) cannot be a method")
        }
        for field in fields { _ = try FieldArgument(field, of: "-H") }
        if let connectTo { _ = try FetchConnectionOptions.target(connectTo) }
    }

    func run() async throws {
        try requireDescriptors()
        let url = FetchAddress.completed(url)
        let run = BenchRun(
            session: ClientSession(configuration), request: try request(url),
            connections: connections, requests: requests, duration: time)
        do {
            try await run.tryOnce(within: time.map { max($0, Self.leastFirstTime) })
        } catch {
            warn(Fetch.harmless("\(error)"))
            let code = (error as? ClientError)?.exitCode ?? 0
            throw ExitCode(code == 0 ? 2 : code)
        }
        let result = await run.run()
        let report = BenchReport(
            url: url, connections: connections, tally: result.tally, elapsed: result.elapsed)
        var output = ByteBuffer()
        if json {
            output.append(report.json.line)
        } else {
            output.append(report.text)
        }
        do {
            try StandardOutput.write(&output)
        } catch {
            warn("\(error)")
            throw ExitCode(23)
        }
        if result.tally.responses == 0 { throw ExitCode(2) }
    }

    /// Raises the limit of descriptors, and ends the program if it stays too low: connections above
    /// it would fail in this process, and their failures would be counted as the server's.
    private func requireDescriptors() throws {
        Syscalls.raiseDescriptorLimit()
        let limit = Syscalls.descriptorLimit()
        // Reserves descriptors for streams, the event loop, name lookups and certificate files.
        let room = limit - max(40, Syscalls.openDescriptorCount() + 28)
        guard connections > room, !mayShareConnections else { return }
        warn(
            "--connections \(connections) is too many for the limit of \(limit) descriptors: "
                + "choose at most \(max(1, room)), or raise it by ulimit -n")
        throw ExitCode.validationFailure
    }

    /// Whether requests may share connections, as with HTTP/2, which TLS may negotiate.
    private var mayShareConnections: Bool {
        version == .http2
            || version == nil && FetchAddress.completed(url).lowercased().hasPrefix("https:")
    }

    /// The duration of the run; `nil` with --requests alone.
    private var time: Duration? {
        if let duration { return .seconds(duration) }
        return requests == nil ? .seconds(10) : nil
    }

    /// A session that adds nothing to the request and keeps nothing of the responses.
    private var configuration: ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.userAgent = "httpkit/\(HTTPKit.version)"
        configuration.tls.verifiesServer = !insecure
        configuration.connectionsPerOrigin = connections
        configuration.idleConnectionLimit = max(connections, configuration.idleConnectionLimit)
        configuration.requestLimit = max(connections, configuration.requestLimit)
        configuration.redirects.isEnabled = false
        configuration.retries = .never
        configuration.cookies = nil
        configuration.cache = nil
        configuration.decodesContent = false
        return configuration
    }

    private func request(_ url: String) throws -> ClientRequest {
        let method = method.flatMap { HTTPMethod($0) } ?? (data == nil ? .get : .post)
        let body = data.map {
            ClientBody.text($0, mediaType: "application/x-www-form-urlencoded")
        }
        var request = ClientRequest(method, url, body: body ?? .none)
        request.allowsContentWithoutMeaning = true
        for text in fields {
            let field = try FieldArgument(text, of: "-H")
            request.fields.append(field.name, field.value)
        }
        try FetchConnectionOptions.apply(connectTo, version, to: &request)
        return request
    }
}
