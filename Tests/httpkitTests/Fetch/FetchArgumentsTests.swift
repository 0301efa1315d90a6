import Testing

@testable import httpkit

@Suite("httpkit fetch: flags joined with their values")
struct FetchArgumentsTests {
    @Test(
        "A value may follow its letter without a space",
        arguments: [
            (["-XPOST"], ["-X", "POST"]), (["-bk=v"], ["-b", "k=v"]),
            (["-Ff=@a"], ["-F", "f=@a"]), (["-sSLo", "f"], ["-sSLo", "f"]),
            (["-sSLof"], ["-sSLo", "f"]), (["-sSv"], ["-sSv"]), (["-d", "-x=1"], ["-d", "-x=1"]),
            (["--data", "-da=b"], ["--data", "-da=b"]),
            (["--data=-d", "-da"], ["--data=-d", "-d", "a"]),
            (["-A", "-dx", "-dx"], ["-A", "-dx", "-d", "x"]), (["-r-5"], ["-r", "-5"]),
            (["--", "-dx"], ["--", "-dx"]), (["-"], ["-"]), (["-zx"], ["-zx"]),
            (["-szx"], ["-szx"]),
            (["--json", "-dx"], ["--json", "-d", "x"]),
            (["-T", "--", "-dx"], ["-T", "--", "-d", "x"]),
            (["-X"], ["-X"]), (["-é=v"], ["-é=v"]),
        ])
    func joined(_ arguments: [String], _ completed: [String]) {
        #expect(FetchArguments.complete(["fetch"] + arguments) == ["fetch"] + completed)
        #expect(FetchArguments.complete(["serve"] + arguments) == ["serve"] + arguments)
    }

    @Test("Every flag of the command is known")
    func complete() async throws {
        let help = try await CommandHelp.of("fetch")
        let values = help.filter { $0.kind == "option" }
        #expect(Set(values.flatMap(\.letters)) == FetchArguments.options)
        #expect(Set(values.flatMap(\.longNames)) == FetchArguments.names)
        let switches = help.filter { $0.kind == "flag" }.flatMap(\.letters)
        #expect(Set(switches).subtracting(["h"]) == FetchArguments.switches)
    }
}
