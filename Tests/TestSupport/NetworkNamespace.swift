#if os(Linux)
    internal import HTTPServerCore

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif

    /// A separate network for some tests, in which interfaces and addresses may change.
    ///
    /// A test outside runs this test program again in a new network namespace
    /// (network_namespaces(7)), with the suites that are enabled only there. The machine's own
    /// network does not change.
    package enum NetworkNamespace {
        private static let mark = "HTTP_TESTS_IN_NAMESPACE"

        /// Whether these tests run in a separate network.
        package static var isInside: Bool { unsafe getenv(mark) != nil }

        /// Whether this user may make one: root may, other users if the system allows them user
        /// namespaces. A missing tool is no reason; the test that needs the tool reports it.
        package static func isAllowed() async -> Bool {
            guard let result = try? await Program.run("unshare", options + ["true"]) else {
                return true
            }
            return result.status == 0
        }

        private static var options: [String] {
            (geteuid() == 0 ? [] : ["--user", "--map-root-user"])
                + ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        }

        /// Runs the suites whose names match, in a network that has only the loopback interface.
        /// All programs that are started there end with the tests.
        /// - Parameters:
        ///   - filter: a regular expression for the names of tests.
        ///   - preparation: shell commands that run before the tests.
        package static func run(
            _ filter: String, preparation: String = "", limit: Duration = .seconds(240)
        ) async throws -> Program.Result {
            _ = try Program.find("ip")
            let script = """
                set -e
                PATH=$PATH:/usr/sbin:/sbin
                ip link set lo up
                \(preparation)
                exec "$0" "$@"
                """
            let tests = ["--testing-library", "swift-testing", "--filter", filter]
            return try await Program.run(
                "unshare", options + ["sh", "-c", script, Program.own] + tests,
                environment: [mark: "1"], limit: limit)
        }

        /// Runs `ip`, which changes the network.
        package static func ip(_ arguments: String) async throws {
            let words = arguments.split(separator: " ").map(String.init)
            let result = try await Program.run("ip", words)
            guard result.status == 0 else {
                throw Program.Failure("ip \(arguments): \(result.complaints)")
            }
        }
    }
#endif
