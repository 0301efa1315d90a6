import HTTPParser
import TestSupport
import URLClient

/// A running `httpkit serve` on a free port, with its output. The process is killed when the
/// object is released.
final class ServeProcess: Sendable {
    let port: UInt16
    /// A client for requests to the server.
    let client: TestClient
    /// Retained while it is served.
    private let folder: Folder?
    private let program: RunningProgram
    /// The TLS settings of the server; `nil` for plain HTTP.
    private let tls = TestTLS.current

    convenience init(
        _ folder: Folder, _ flags: [String] = [], errors: CInt? = nil, by launcher: [String] = []
    ) async throws {
        try await self.init(
            path: folder.path, flags, errors: errors, folder: folder, by: launcher)
    }

    /// Starts the server and waits for the line that names its address.
    /// - Parameters:
    ///   - errors: a descriptor for standard error; `nil` for `complaints`.
    ///   - launcher: a program and its arguments, which runs the command that follows.
    init(
        path: String, _ flags: [String] = [], errors: CInt? = nil, folder: Folder? = nil,
        by launcher: [String] = []
    ) async throws {
        self.folder = folder
        let words =
            launcher + [Program.httpkit, "serve", path, "--port", "0"]
            + (tls?.serverFlags ?? []) + flags
        program = try RunningProgram(words[0], Array(words.dropFirst()), errors: errors)
        guard await program.wait(until: { Self.port(in: $0.text) != nil }),
            let port = Self.port(in: program.text)
        else { throw Program.Failure("httpkit does not start: \(program.complaints)") }
        self.port = port
        client = TestClient(port: port)
    }

    /// The port of the first line; `nil` until all addresses are printed.
    private static func port(in output: String) -> UInt16? {
        guard output.contains("/\n") else { return nil }
        let line = output.split(separator: "\n").first ?? ""
        return UInt16(line.split(separator: ":").last?.prefix { $0.isNumber } ?? "")
    }

    /// The URL of a percent-encoded path.
    /// - Parameter port: the port of a program in front of the server; `nil` for the server's port.
    func url(_ path: String = "/", port: UInt16? = nil) -> String {
        "\(tls == nil ? "http" : "https")://127.0.0.1:\(port ?? self.port)\(path)"
    }

    /// Sends a request and waits for the whole response; the server runs until then.
    func send(
        _ method: HTTPMethod, _ path: String, _ fields: HTTPFields = [:], body: ClientBody = .none
    ) async throws -> TestClient.Answer {
        defer { withExtendedLifetime(self) {} }
        return try await client.send(method, path, fields: fields, body: body)
    }

    /// The status of the response to a request.
    func status(
        _ method: HTTPMethod = .get, _ path: String, _ fields: HTTPFields = [:],
        body: ClientBody = .none
    ) async throws -> UInt16 {
        try await send(method, path, fields, body: body).status.code
    }

    /// Requests a path with GET.
    func get(_ path: String = "/", _ fields: HTTPFields = [:]) async throws -> TestClient.Answer {
        try await send(.get, path, fields)
    }

    /// Its standard output.
    var output: String { program.text }
    /// Its standard error.
    var complaints: String { program.complaints }
    var isRunning: Bool { program.isRunning }
    /// Its process identifier.
    var pid: CInt { program.pid }

    /// Sends a signal.
    func signal(_ number: CInt) { program.signal(number) }

    /// Waits for the end; returns the exit status, or the negative number of the signal.
    func waitForEnd() async -> CInt { await program.end() }

    /// Waits until standard error has a text; the log of a response follows the response.
    func waitForComplaint(_ text: String) async -> Bool {
        await program.wait { $0.complaints.contains(text) }
    }

    /// Waits until standard output has a text.
    func waitForOutput(_ text: String) async -> Bool {
        await program.wait { $0.text.contains(text) }
    }

    /// A plain socket that is connected to the server, over TLS if the server uses it.
    func connect() throws -> PlainSocket { try PlainSocket(port: port, isSecure: tls != nil) }

    /// Runs curl on a path, with `-sS` and a time limit.
    func curl(_ arguments: String..., path: String = "/") async throws -> Program.Result {
        try await Program.run("curl", ["-sS", "-m", "110"] + arguments + [url(path)])
    }
}

extension ClientBody {
    /// A file that is sent without its length.
    static func chunked(file: String) -> ClientBody {
        .replayable {
            AsyncStream<[UInt8]> { continuation in
                continuation.yield(Folder.bytes(at: file))
                continuation.finish()
            }
        }
    }
}
