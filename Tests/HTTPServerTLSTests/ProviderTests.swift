#if os(Linux)
    import TestSupport
    import Testing
    import ToolkitSystem

    @testable import HTTPServerTLS

    /// OpenSSL reads its configuration once in a process, so these tests run in another one.
    private enum ProviderChoice {
        static let mark = "HTTP_TESTS_PROVIDER"
        /// The provider in addition to OpenSSL's default one; `nil` outside of such a process.
        static var current: String? { Syscalls.environment(mark) }
    }

    @Suite("Providers of OpenSSL that the system configures")
    struct ProviderTests {
        @Test(
            "The record layer is used only if all providers are known ones",
            .enabled(if: ProviderChoice.current == nil), arguments: ["null", "base"])
        func chosen(_ provider: String) async throws {
            let directory = try ServerDirectory()
            defer { withExtendedLifetime(directory) {} }
            try directory.write(
                "openssl.cnf",
                """
                openssl_conf = all
                [all]
                providers = providers
                [providers]
                default = one
                \(provider) = one
                [one]
                activate = 1

                """)
            let result = try await Program.run(
                Program.own,
                ["--testing-library", "swift-testing", "--filter", "ChosenProviderTests"],
                environment: [
                    "OPENSSL_CONF": directory.path("openssl.cnf"), ProviderChoice.mark: provider,
                ])
            #expect(result.status == 0, "\(result.text)\(result.complaints)")
            // The test library writes its summary to standard error.
            #expect(
                result.complaints.contains("1 test in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite("In a process with a configured provider", .enabled(if: ProviderChoice.current != nil))
    struct ChosenProviderTests {
        @Test("OpenSSL keeps the records only if the null provider is configured")
        func takeOver() throws {
            let pair = TLSPair(try .test(), TLSClient(version: TLSClient.tls13))
            try pair.shakeHands()
            let transport = try #require(pair.transport as? TLSTransport)
            #expect((transport.records == nil) == (ProviderChoice.current == "null"))
            #expect(pair.send([1, 2]) == .done(2))
            #expect(pair.readByClient() == [1, 2])
            pair.client.write([3])
            pair.sendFromClient()
            #expect(pair.receiveAll() == [3])
        }
    }
#endif
