import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

/// One of the programs in Examples, on a free port. The process is killed when the object is
/// released.
final class ExampleProcess: Sendable {
    let port: UInt16
    private let program: RunningProgram

    /// - Parameters:
    ///   - lines: text for its standard input, which stays open after it; `nil` for an empty
    ///     input.
    ///   - environment: variables in addition to those of the tests.
    init(
        _ name: String, _ arguments: String..., lines: String? = nil,
        environment: [String: String]? = nil
    ) async throws {
        let binary = try await Self.binary(name)
        if let lines {
            let script = "(printf %s \"$0\"; exec sleep 600) | \"$@\""
            program = try RunningProgram(
                "sh", ["-c", script, lines, binary, "0"] + arguments, isGroup: true)
        } else {
            program = try RunningProgram(binary, ["0"] + arguments, environment: environment)
        }
        guard await program.wait(until: { Self.port(in: $0.complaints) != nil }),
            let port = Self.port(in: program.complaints)
        else { throw Program.Failure("\(name) does not start: \(program.complaints)") }
        self.port = port
    }

    /// The folder of the examples.
    static var folder: String {
        URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")
            .path
    }

    /// The path of a built example.
    static func binary(_ name: String) async throws -> String {
        let binary = folder + "/.build/debug/\(name)"
        if !FileManager.default.isExecutableFile(atPath: binary) {
            // `make test-peers` builds it before the tests; a plain `swift test` does not.
            let built = try await Program.run(
                "swift", ["build", "--package-path", folder, "--product", name],
                limit: .seconds(1_200))
            try #require(built.status == 0, "\(built.text)\(built.complaints)")
        }
        return binary
    }

    /// The port in the line of the log that names the server's address.
    private static func port(in log: String) -> UInt16? {
        guard let start = log.firstRange(of: "127.0.0.1:")?.upperBound else { return nil }
        let digits = log[start...].prefix { $0.isNumber }
        return digits.endIndex < log.endIndex ? UInt16(digits) : nil
    }

    /// Sends SIGINT, waits for the end of the program, and throws if its status is not 0.
    func stop() async throws {
        program.signal(SIGINT)
        let status = await program.end()
        guard status == 0 else { throw Program.Failure("\(status): \(program.complaints)") }
    }

    var url: String { "http://127.0.0.1:\(port)/" }

    /// Sends a request; returns the content of the response, and the status in a last line.
    /// - Parameters:
    ///   - path: the percent-encoded path.
    ///   - follows: whether redirects are followed.
    ///   - change: changes the configuration of the client.
    func ask(
        _ path: String = "/", _ method: HTTPMethod = .get, _ fields: HTTPFields = [:],
        body: ClientBody = .none, follows: Bool = false,
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> String {
        defer { withExtendedLifetime(self) {} }
        let client = TestClient(port: port) { configuration in
            configuration.redirects.isEnabled = follows
            change(&configuration)
        }
        let answer = try await client.send(method, path, fields: fields, body: body)
        return "\(answer.text)\n\(answer.status.code)"
    }
}
