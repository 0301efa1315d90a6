import HTTPServerAddresses

#if os(Linux)
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import ToolkitSystem

    /// Whether these tests run in a process with an inherited socket.
    private enum Activation {
        static let mark = "HTTP_TESTS_ACTIVATED"
        static var isInside: Bool { Syscalls.environment(mark) != nil }
    }

    @Suite("Socket activation by systemd's protocol")
    struct SocketActivationTests {
        /// Acts as a service manager: opens a socket, places it after standard error, and becomes
        /// the service.
        private static let manager = """
            import os, socket, sys
            web = socket.socket(socket.AF_INET6)
            web.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            web.bind(("::", 0))
            web.listen(8)
            os.dup2(web.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(
                LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="web")
            os.execv(sys.argv[1], sys.argv[1:])
            """

        @Test("A process with an inherited socket serves it", .enabled(if: !Activation.isInside))
        func activated() async throws {
            let result = try await Program.run(
                "python3",
                [
                    "-c", Self.manager, Program.own, "--testing-library", "swift-testing",
                    "--filter", "ActivatedTests",
                ], environment: [Activation.mark: "1"])
            #expect(result.status == 0, "\(result.complaints)")
            // The testing library writes its summary there.
            #expect(
                result.complaints.contains("1 test in 1 suite passed"), "\(result.complaints)")
        }
    }

    @Suite("In a process with an inherited socket", .enabled(if: Activation.isInside))
    struct ActivatedTests {
        @Test("Inherited sockets are returned once, and hidden from child processes")
        func served() async throws {
            let sockets = try InheritedSocket.fromSystemd()
            #expect(sockets.map(\.name) == ["web"])
            #expect(sockets.map(\.descriptor) == [3])
            #expect(try InheritedSocket.fromSystemd().isEmpty)
            let environment = try await Program.run("env", []).text
            #expect(!environment.contains("LISTEN_"))
            #expect(environment.contains(Activation.mark))

            var configuration = ServerConfiguration()
            configuration.loops = 1
            configuration.endpoints = sockets.map(\.endpoint)
            var router = Router()
            router.on(.get, "/") { _ in Response(.ok, body: .text("activated\n")) }
            let server = HTTPServer(configuration, handler: router)
            try await server.start()
            // One socket for both families has the URLs of both.
            let port = try #require(server.addresses.first?.port)
            #expect(server.reachableURLs.map(\.text).contains("http://127.0.0.1:\(port)/"))
            #expect(try await TestClient(port: port).get().text == "activated\n")
            await server.shutdown()
        }
    }
#endif
