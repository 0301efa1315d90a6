import ArgumentParser
import HTTPParser
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `httpkit fetch`: one request, and its content on standard output or in a file.
struct FetchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Send a request and print or save the content of its response.",
        discussion: """
            The exit status is 0 for a response of 2xx or 3xx, and 22 for 4xx or 5xx. With \
            --output, which saves only 2xx, it is 22 for 3xx, too. For other failures it is that \
            of curl: 6 for an unknown host, 7 for a refused connection, 28 for a timeout, 60 for a \
            bad certificate. Control-C ends the command with 130, SIGTERM with 143; with --resume \
            the same call resumes later.

            A ws or wss URL opens a WebSocket: each line of standard input is sent as a text \
            message, each received message is printed with a line break after it (see \
            --json-messages), and the end of the input closes the connection. The code and the \
            reason of the close go to standard error; the exit status is 0 for 1000 and for a \
            close without a code, and 22 for any other code.
            """)

    @Argument(help: "An http, https, ws or wss URL; http:// may be omitted.")
    var url: String

    @OptionGroup(title: "Request")
    var request: FetchRequestOptions

    @OptionGroup(title: "Fields")
    var head: FetchHeadOptions

    @OptionGroup(title: "Output")
    var output: FetchOutputOptions

    @OptionGroup(title: "Connection")
    var connection: FetchConnectionOptions

    @OptionGroup(title: "Ways to the server")
    var reach: FetchReachOptions

    func validate() throws {
        try validateHead()
        try validateResume()
        if WebSocketConsole.takes(url), request.isUnusual || output.keeps || head.isHeadOnly {
            throw ValidationError(
                "a WebSocket takes its messages from standard input and prints them")
        }
        if output.jsonMessages, !WebSocketConsole.takes(url) {
            throw ValidationError("--json-messages is for the messages of ws and wss URLs")
        }
    }

    private func validateHead() throws {
        if head.isHeadOnly, request.hasContent || request.method != nil {
            throw ValidationError("-I sends HEAD, so it excludes -X, -d, -F and -T")
        }
        if output.hasRemoteName, output.file != nil {
            throw ValidationError("-o and -O exclude each other")
        }
        if output.hasRemoteName, FetchAddress.fileName(of: url) == nil {
            throw ValidationError("-O needs a URL whose path ends with a name")
        }
        if output.resume, head.range != nil || head.isHeadOnly {
            throw ValidationError("--resume requests the rest itself: omit -r and -I")
        }
    }

    /// Whether the content goes to a file.
    private var hasFile: Bool { output.file != nil || output.hasRemoteName }

    private func validateResume() throws {
        if output.resume, request.upload == "-" {
            throw ValidationError("--resume continues a file: -T - is standard input")
        }
        if output.resume, request.upload != nil, hasFile {
            throw ValidationError("--resume continues either -T FILE or -o FILE, not both")
        }
        if output.resume, !hasFile, request.upload == nil {
            throw ValidationError("--resume continues a file: name it with -o or -T")
        }
    }

    func run() async throws {
        // The reader of standard output may close it; writing then fails, and the error is
        // reported.
        _ = signal(SIGPIPE, SIG_IGN)
        throw ExitCode(await status())
    }

    /// The session, and the cookies of the command line, which must not be stored.
    private func session(
        for request: ClientRequest, _ url: String
    ) throws -> (ClientSession, [Cookie]) {
        var configuration = connection.configuration(for: url)
        head.apply(to: &configuration)
        try reach.apply(to: &configuration, hasUser: connection.user != nil)
        if output.isVerbose { configuration.trace = TraceDisplay.show }
        guard let storage = configuration.cookies else { return (ClientSession(configuration), []) }
        if let error = storage.loadError { throw error }
        let cookies = try head.addCookies(to: storage, for: FetchAddress.origin(of: url))
        return (ClientSession(configuration), cookies)
    }

    /// The reason why a path cannot be written, found before the request is sent; `nil` for none.
    private static func fault(of path: String) -> String? {
        func isDirectory(_ path: String) -> Bool? {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            return status.st_mode & S_IFMT == S_IFDIR
        }
        if isDirectory(path) == true { return "\(path): is a directory" }
        let folder = Fetch.folder(of: path)
        switch isDirectory(folder) {
        case true?: return nil
        case false?: return "\(folder): is not a directory"
        case nil: return errno == ENOENT ? "\(folder): no such directory" : nil
        }
    }

    private func talk(_ session: ClientSession, _ request: ClientRequest) async throws -> Int32 {
        let console = WebSocketConsole(
            task: session.webSocketTask(with: request),
            timeout: connection.timeout.map { Duration.seconds($0) },
            includesHead: output.includesHead, printsJSON: output.jsonMessages,
            showsMessages: output.showsMessages)
        return try await console.run()
    }

    /// Runs the command; an error is reported in one line.
    /// - Returns: the exit status.
    private func status() async -> Int32 {
        do {
            let url = FetchAddress.completed(url)
            var request = try request.request(url, connection)
            head.apply(to: &request)
            let (session, cookies) = try session(for: request, url)
            var output = output
            if output.hasRemoteName { output.file = FetchAddress.fileName(of: url) }
            if let fault = output.file.flatMap(Self.fault) {
                output.complain(fault)
                return 23
            }
            let fetch = Fetch(
                request: request, session: session, output: output, upload: self.request.upload,
                isHeadOnly: head.isHeadOnly)
            let storage = session.configuration.cookies
            // The storage writes its file when it is released, also after a failure.
            defer { if let storage { FetchHeadOptions.remove(cookies, from: storage) } }
            let status =
                WebSocketConsole.takes(url)
                ? try await talk(session, request) : try await fetch.run()
            if let storage {
                FetchHeadOptions.remove(cookies, from: storage)
                // The error is shown here, because the session would fail on the same file without
                // a message.
                if status == 0 { try storage.save() }
            }
            await session.flush()
            return status
        } catch let error as Fetch.Interrupted {
            let hint = output.resume ? "; the same call resumes if the server supports it" : ""
            output.complain("interrupted\(hint)")
            return 128 + error.signal
        } catch let error as ClientError {
            let isKept = output.resume && error.resumeData?.measured() != nil
            let hint = isKept ? "; the partial file is kept, and the same call resumes" : ""
            output.complain(Fetch.harmless("\(error)") + hint)
            return error.exitCode == 0 ? 2 : error.exitCode
        } catch {
            output.complain("\(error)")
            return error is StreamError ? 23 : 2
        }
    }
}
