#if canImport(Testing)
    internal import Testing
#endif

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The tests that need large programs: `make test-all` installs these programs and sets `TEST_ALL`;
/// `make test` and `make test-peers` skip the tests and say so.
package enum FullSuite {
    /// Whether `TEST_ALL` is set.
    package static let isOn = unsafe getenv("TEST_ALL") != nil

    /// The programs, libraries and Python modules that only `make test-all` installs.
    private static let tools: Set<String> = [
        "nginx", "haproxy", "apache2", "httpd", "chromium", "gio", "dbus-run-session", "rclone",
        "node", "requests", "httpx", "webdav3.client", "libbrotlidec", "tusclient", "testssl",
        "sslyze", "certutil", "websockets", "wsproto",
    ]

    /// Skips the running test, or fails it in the full suite, when a library that is loaded at run
    /// time is missing.
    package static func require(_ library: String, isThere: Bool) throws {
        guard !isThere else { return }
        try admit(library)
        throw Program.Missing(tool: library)
    }

    /// Skips the running test when the tool belongs to the full suite and `TEST_ALL` is not set.
    /// - Throws: an error that ends the test as skipped.
    static func admit(_ tool: String) throws {
        guard !isOn, tools.contains(tool) else { return }
        #if canImport(Testing) && compiler(>=6.3)
            try Test.cancel("needs \(tool): `make test-all` installs and runs it")
        #endif
    }
}
