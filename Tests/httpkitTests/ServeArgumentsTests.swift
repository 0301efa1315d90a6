import Testing

@testable import httpkit

@Suite("httpkit serve: flags from environment variables")
struct ServeArgumentsTests {
    private static func complete(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> [String] {
        try ServeArguments.complete(arguments) { environment[$0] }
    }

    @Test(
        "Variables for values, lists and switches become flags",
        arguments: [
            ("HTTPKIT_PORT", "8000", ["--port=8000"]),
            ("HTTPKIT_LOG_LEVEL", "info", ["--log-level=info"]),
            ("HTTPKIT_ACCESS_LOG", "1", ["--access-log"]),
            ("HTTPKIT_ACCESS_LOG", "TRUE", ["--access-log"]),
            ("HTTPKIT_ACCESS_LOG", "off", []), ("HTTPKIT_ACCESS_LOG", "", []),
            ("HTTPKIT_GZIP", "0", ["--no-gzip"]), ("HTTPKIT_GZIP", "yes", ["--gzip"]),
            ("HTTPKIT_NO_LISTING", "1", ["--no-listing"]), ("HTTPKIT_NO_LISTING", "no", []),
            ("HTTPKIT_HEADER", "A: b\nC: d\n", ["--header=A: b", "--header=C: d"]),
            ("HTTPKIT_HEADER", "A: b\r\nC: d\r\n", ["--header=A: b", "--header=C: d"]),
            ("HTTPKIT_ECHO", "-", ["--echo=-"]), ("HTTPKIT_UNKNOWN", "1", []),
        ])
    func variables(_ name: String, _ value: String, _ flags: [String]) throws {
        #expect(try Self.complete(["serve", "."], [name: value]) == ["serve"] + flags + ["."])
    }

    @Test(
        "A flag on the command line overrides its variable",
        arguments: [
            ("HTTPKIT_PORT", ["--port", "1"]), ("HTTPKIT_PORT", ["--port=1"]),
            ("HTTPKIT_PORT", ["-p", "1"]), ("HTTPKIT_GZIP", ["--no-gzip"]),
            ("HTTPKIT_HEADER", ["--header", "X: y"]),
        ])
    func precedence(_ name: String, _ flags: [String]) throws {
        #expect(try Self.complete(["serve"] + flags, [name: "1"]) == ["serve"] + flags)
        let behind = ["serve", "--"] + flags
        #expect(try Self.complete(behind, [name: "1"]).count == behind.count + 1)
    }

    @Test(
        "--host and --port override the socket of the environment",
        arguments: [["--port", "9000"], ["-p9000"], ["--host=*"]])
    func socket(_ flags: [String]) throws {
        let socket = ["HTTPKIT_UNIX_SOCKET": "/run/s", "HTTPKIT_UNIX_SOCKET_MODE": "600"]
        #expect(try Self.complete(["serve"] + flags, socket) == ["serve"] + flags)
        let both = flags + ["--unix-socket=/s"]
        let mode = ["serve", "--unix-socket-mode=600"]
        #expect(try Self.complete(["serve"] + both, socket) == mode + both)
        #expect(
            try Self.complete(["serve"], socket)
                == ["serve", "--unix-socket=/run/s", "--unix-socket-mode=600"])
    }

    @Test("Other commands use no variables")
    func others() throws {
        for arguments in [["fetch", "a"], ["bin"], []] {
            #expect(try Self.complete(arguments, ["HTTPKIT_PORT": "1"]) == arguments)
        }
    }

    @Test("A switch's variable other than 1, 0 and their synonyms is an error")
    func fault() {
        let fault = #expect(throws: ServeArguments.Fault.self) {
            try Self.complete(["serve"], ["HTTPKIT_QR": "perhaps"])
        }
        #expect(
            fault?.description
                == "HTTPKIT_QR takes 1/true/yes/on or 0/false/no/off, got perhaps")
    }

    @Test(
        "--cors without an origin means all origins",
        arguments: [
            (["--cors"], ["--cors=*"]), (["--cors", "--gzip"], ["--cors=*", "--gzip"]),
            (["--cors", "site"], ["--cors=*", "site"]), (["--cors", "*"], ["--cors", "*"]),
            (["--cors", "https://a.example"], ["--cors", "https://a.example"]),
            (["--cors", "--", "http://x"], ["--cors=*", "--", "http://x"]),
            (["--", "--cors"], ["--", "--cors"]),
        ])
    func origins(_ arguments: [String], _ completed: [String]) throws {
        #expect(try Self.complete(["serve"] + arguments) == ["serve"] + completed)
    }

    @Test("Every flag of serve has a variable")
    func complete() async throws {
        let help = try await CommandHelp.of("serve")
        let values = help.filter { $0.kind == "option" }
        let options = Set(values.filter { !$0.isRepeating }.flatMap(\.longNames))
        let lists = Set(values.filter(\.isRepeating).flatMap(\.longNames))
        var switches = Set(help.filter { $0.kind == "flag" }.flatMap(\.longNames))
        switches.subtract(["help", "version"])
        #expect(options == ServeArguments.options)
        #expect(lists == ServeArguments.lists)
        let negative = ServeArguments.reversible.map { "no-\($0)" }
        #expect(switches == ServeArguments.switches.union(negative))
    }
}
