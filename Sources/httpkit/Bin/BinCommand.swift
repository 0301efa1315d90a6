import ArgumentParser
import HTTPServerCore
internal import HTTPServerKit
import Logging

/// `httpkit bin`: the endpoints of httpbin.
struct BinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bin",
        abstract: "Serve the endpoints of httpbin, to test clients.",
        discussion: """
            Prints the address on standard output once it accepts connections, and a second line \
            with --torture-port. Control-C and SIGTERM stop it: running requests get at most ten \
            seconds to end.
            """)

    @Option(help: "The address or name to listen at; * for all.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Also serve unusual and malformed responses at this port; 0 for any free one.",
            valueName: "port"))
    var torturePort: UInt16?

    func run() async throws {
        logToStandardError(.warning)
        // The reader of standard output may close it; the server continues.
        HTTPServer.ignoreBrokenPipes()
        let torture: TortureServer?
        do throws(ListenError) {
            torture = try torturePort.map { port throws(ListenError) in
                try TortureServer(host: host, port: port)
            }
        } catch {
            fail(error.description)
        }
        var configuration = ServerConfiguration(host: host, port: port)
        configuration.raisesDescriptorLimit = true
        let server = HTTPServer(configuration, handler: BinRouter(torturePort: torture?.port))
        let brokenPort = torture?.port
        do {
            try await server.run(stoppingOn: [.interrupt, .terminate]) { addresses in
                // If a signal stops the server meanwhile, it has no addresses.
                announce(server, port: addresses.first?.port ?? port, brokenPort: brokenPort)
            }
        } catch let error as ListenError {
            fail(error.description)
        }
        torture?.stop()
        StandardErrorLog.finish()
    }

    private func announce(_ server: HTTPServer, port: UInt16, brokenPort: UInt16?) {
        let shown = ShownHost.text(host, of: server)
        var lines = ["Serving httpbin at http://\(shown):\(port)/"]
        if let brokenPort { lines.append("Broken answers at http://\(shown):\(brokenPort)/") }
        show(lines.joined(separator: "\n"))
    }
}
