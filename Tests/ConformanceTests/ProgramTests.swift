import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

@Suite("Programs that tests run", .fewAtOnce)
struct ProgramTests {
    @Test func theStreamsAndTheStatusComeBack() async throws {
        let script = "cat; echo problem >&2; exit 3"
        let result = try await Program.run("sh", ["-c", script], input: Array("text".utf8))
        #expect(result.status == 3 && result.text == "text" && result.complaints == "problem\n")
    }

    @Test func aSignalIsANegativeStatus() async throws {
        #expect(try await Program.run("sh", ["-c", "kill -TERM $$"]).status == -15)
    }

    /// All processes hold the writing end of the pipe, so it ends when all of them have ended.
    @Test func whatTakesTooLongIsKilledWithItsDescendants() async throws {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let program = try RunningProgram(
            "sh", ["-c", "sleep 1000 & echo started; wait"], errors: ends[1], isGroup: true)
        close(ends[1])
        #expect(await program.wait { $0.text == "started\n" })
        #expect(await program.end(limit: .zero) == -SIGKILL)
        #expect(program.complaints.contains("killed"))
        let reading = ends[0]
        let count = await OwnThread.run {
            var byte: UInt8 = 0
            return unsafe read(reading, &byte, 1)
        }
        #expect(count == 0)
        close(reading)
    }

    @Test func folderAndEnvironmentAreSet() async throws {
        let result = try await Program.run(
            "sh", ["-c", "pwd; echo $WORD; test -n \"$PATH\""], environment: ["WORD": "x y"],
            folder: "/")
        #expect(result.text == "/\nx y\n" && result.status == 0)
    }

    @Test func whatIsMissingIsNamed() async throws {
        await #expect(throws: Program.Missing.self) { try await Program.run("no-such-tool", []) }
        await #expect(throws: Program.Failure.self) { try await Program.run("/no/such", []) }
        #expect(try await Program.python(having: "json").contains("python"))
        await #expect(throws: Program.Missing.self) { try await Program.python(having: "nojson") }
    }

    @Test func aRunningProgramIsWatchedAndSignalled() async throws {
        let program = try RunningProgram("sh", ["-c", "echo ready; read x; exec sleep 1000"])
        #expect(await program.wait { $0.text == "ready\n" })
        program.signal(15)
        #expect(await program.end() == -15)
        #expect(!program.isRunning)
    }

    @Test(arguments: 0..<20) func manyRunAtOnce(_ number: Int) async throws {
        let input = [UInt8](repeating: UInt8(number), count: 100_000)
        let result = try await Program.run("cat", [], input: input)
        #expect(result.status == 0 && result.output == input)
    }
}
