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
        abstract: "Send a request and print or keep the content of its response.",
        discussion: """
            The exit status is 0 for a response of 2xx or 3xx, 22 for one of 4xx or 5xx, and \
            otherwise the one that curl has for the same failure: 6 for an unknown host, 7 for a \
            refused connection, 28 for a timeout, 60 for a bad certificate. Control-C ends it \
            with 130, SIGTERM with 143; with --resume the same call goes on later.

            A ws or wss URL opens a WebSocket: each line of standard input is sent as a text message, \
            each message received is printed as a line, and the end of the input closes the \
            connection. The code and the reason of the close go to standard error; the exit status is \
            0 for 1000 and for a close without a code, and 22 for another one.
            """)

    @Argument(help: "An http, https, ws or wss URL.")
    var url: String

    @OptionGroup(title: "Request")
    var request: FetchRequestOptions

    @OptionGroup(title: "Output")
    var output: FetchOutputOptions

    @OptionGroup(title: "Connection")
    var connection: FetchConnectionOptions

    func validate() throws {
        if WebSocketConsole.takes(url), request.hasContent || output.keeps {
            throw ValidationError(
                "a WebSocket takes its messages from standard input and prints them")
        }
        if output.resume, request.upload == "-" {
            throw ValidationError("--resume continues a file: -T - is none")
        }
        if output.resume, request.upload != nil, output.file != nil {
            throw ValidationError("--resume continues -T FILE or -o FILE, one of them")
        }
        if output.resume, output.file == nil, request.upload == nil {
            throw ValidationError("--resume continues a file: name it with -o or -T")
        }
    }

    func run() async throws {
        // The reader of standard output may close it; writing then fails, and the error is
        // reported.
        _ = signal(SIGPIPE, SIG_IGN)
        throw ExitCode(await status())
    }

    private func talk(_ session: ClientSession) async throws -> Int32 {
        let console = WebSocketConsole(
            task: session.webSocketTask(with: try request.request(url, connection)),
            timeout: connection.timeout.map { Duration.seconds($0) },
            includesHead: output.includesHead)
        let status = try await console.run()
        try session.configuration.cookies?.save()
        return status
    }

    /// The exit status; one line reports an error.
    private func status() async -> Int32 {
        do {
            let session = try connection.session(for: url)
            if WebSocketConsole.takes(url) { return try await talk(session) }
            let fetch = Fetch(
                request: try request.request(url, connection), session: session, output: output,
                upload: request.upload)
            let status = try await fetch.run()
            // Shown before the session fails on the same file without a message.
            if status == 0 { try session.configuration.cookies?.save() }
            await session.flush()
            return status
        } catch let error as Fetch.Interrupted {
            let hint = output.resume ? "; the same call goes on where the server can" : ""
            show("httpkit: interrupted\(hint)", on: STDERR_FILENO)
            return 128 + error.signal
        } catch let error as ClientError {
            show("httpkit: \(error)", on: STDERR_FILENO)
            return error.exitCode == 0 ? 2 : error.exitCode
        } catch {
            show("httpkit: \(error)", on: STDERR_FILENO)
            return error is StreamError ? 23 : 2
        }
    }
}
