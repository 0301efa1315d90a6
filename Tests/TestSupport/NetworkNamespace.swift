#if os(Linux)
    internal import HTTPServerCore

    #if canImport(Glibc)
        internal import Glibc
    #else
        internal import Musl
    #endif

    /// A network of its own for some tests, in which interfaces and addresses may come and go.
    ///
    /// A test outside runs this program of tests again, in a new network namespace (network_namespaces(7)), for the suites that are enabled only there. Nothing of the machine's own network changes.
    package enum NetworkNamespace {
        private static let mark = "HTTP_TESTS_IN_NAMESPACE"

        /// Whether these tests run in a network of their own.
        package static var isInside: Bool { unsafe getenv(mark) != nil }

        /// Whether this user may make one: root may, others where the system lets them have user
        /// namespaces. A missing tool does not count; the test that needs it says so.
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
        /// All programs that are started there end with it.
        /// - Parameters:
        ///   - filter: a regular expression for the names of tests.
        ///   - preparation: commands of the shell that come before.
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
