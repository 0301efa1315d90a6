import TestSupport

/// A running `httpkit bin` with its port of broken answers, both free ones. It is killed when it
/// goes.
final class BinProcess: Sendable {
    /// The address of the endpoints, without a slash at the end.
    let base: String
    /// The address of the broken answers, without a slash at the end.
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

    /// Waits for the end, and says how it came: the exit status, or minus the signal's number.
    func waitForEnd() async -> CInt { await program.end() }

    /// Runs curl on a path of the endpoints; `-sS` and a time limit are given.
    func curl(_ arguments: String..., path: String) async throws -> Program.Result {
        try await Program.run("curl", ["-sS", "-m", "110"] + arguments + [base + path])
    }

    /// Runs curl on a path of the broken answers.
    /// - Parameter seconds: the time limit of curl.
    func torture(
        _ arguments: String..., path: String, seconds: Int = 110
    ) async throws -> Program.Result {
        try await Program.run(
            "curl", ["-sS", "-m", "\(seconds)"] + arguments + ["\(torture)/\(path)"])
    }
}
