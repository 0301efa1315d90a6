import TestSupport

/// A running `httpkit bin` with a port for broken responses, both on free ports. The process is
/// killed when the object is released.
final class BinProcess: Sendable {
    /// The address of the endpoints, without a slash at the end.
    let base: String
    /// The address of the broken responses, without a slash at the end.
    let torture: String
    private let program: RunningProgram

    init() async throws {
        program = try RunningProgram(
            Program.httpkit, ["bin", "--port", "0", "--torture-port", "0"])
        guard await program.wait(until: { Self.addresses($0.text).count == 2 }) else {
            throw Program.Failure("httpkit does not start: \(program.complaints)")
        }
        let addresses = Self.addresses(program.text)
        (base, torture) = (addresses[0], addresses[1])
    }

    private static func addresses(_ output: String) -> [String] {
        output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap {
            line in
            line.split(separator: " ").last.map { String($0.dropLast()) }
        }
    }

    /// Its standard output.
    var output: String { program.text }

    /// Sends a signal.
    func signal(_ number: CInt) { program.signal(number) }

    /// Waits for the end; returns the exit status, or the negative number of the signal.
    func waitForEnd() async -> CInt { await program.end() }

    /// Runs curl on a path of the endpoints, with `-sS` and a time limit.
    func curl(_ arguments: String..., path: String) async throws -> Program.Result {
        try await Program.run("curl", ["-sS", "-m", "110"] + arguments + [base + path])
    }

    /// Runs curl on a path of the broken responses.
    /// - Parameter seconds: the time limit of curl.
    func torture(
        _ arguments: String..., path: String, seconds: Int = 110
    ) async throws -> Program.Result {
        try await Program.run(
            "curl", ["-sS", "-m", "\(seconds)"] + arguments + ["\(torture)/\(path)"])
    }
}
