import TestSupport
import Testing

@Suite("httpkit fetch with standard error on a terminal", .fewAtOnce, .timeLimit(.minutes(5)))
struct FetchTerminalTests {
    /// Runs a program whose standard error is a terminal, and whose standard output is a file, or
    /// for `-` a pipe from which ten bytes are read. Prints the exit status.
    private static let script = """
        import os, pty, subprocess, sys, threading
        place, command = sys.argv[1], sys.argv[2:]
        terminal, errors = pty.openpty()
        def drain():
            try:
                while os.read(terminal, 1 << 16): pass
            except OSError: pass
        threading.Thread(target=drain, daemon=True).start()
        output = subprocess.PIPE if place == "-" else open(place, "wb")
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        if place == "-":
            os.read(program.stdout.fileno(), 10)
            program.stdout.close()
        try:
            print(program.wait(60))
        except subprocess.TimeoutExpired:
            program.kill()
            print("still running")
        """

    private func fetch(to place: String, _ flags: String...) async throws -> String {
        let server = try await BinProcess()
        let result = try await Program.run(
            "python3",
            ["-c", Self.script, place, Program.httpkit, "fetch"] + flags
                + ["\(server.base)/stream-bytes/20000000"])
        #expect(result.complaints.isEmpty)
        return result.text
    }

    @Test("A reader that closes the pipe ends fetch with status 23, also while progress is shown")
    func closedPipe() async throws {
        #expect(try await fetch(to: "-") == "23\n")
    }

    #if os(Linux)  // Other systems have no /dev/full.
        @Test("A full disk ends fetch with status 23, also while progress is shown")
        func fullDisk() async throws {
            #expect(try await fetch(to: "/dev/full") == "23\n")
            #expect(try await fetch(to: "/dev/null", "-o", "/dev/full") == "23\n")
        }
    #endif
}
