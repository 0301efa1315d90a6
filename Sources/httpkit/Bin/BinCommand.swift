import ArgumentParser
import HTTPServerCore
internal import HTTPServerKit
import Logging

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `httpkit bin`: the endpoints of httpbin.
struct BinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bin",
        abstract: "Serve the endpoints of httpbin, for trying clients.",
        discussion: """
            Prints the address on standard output once it accepts connections, one line more for \
            the port of broken answers, and nothing else there. Control-C and SIGTERM let running \
            requests end, for ten seconds at most.
            """)

    @Option(help: "The address or name to listen at; * for all.")
    var host = "127.0.0.1"

    @Option(help: "The port; 0 for any free one.")
    var port: UInt16 = 8080

    @Option(
        help: ArgumentHelp(
            "Speak legal oddities and broken answers at this port as well; 0 for any free one.",
            valueName: "port"))
    var torturePort: UInt16?

    func run() async throws {
        logToStandardError(.warning)
        // Who reads our lines may go; that is no reason to stop serving.
        _ = signal(SIGPIPE, SIG_IGN)
        var torture: TortureServer?
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
        do throws(ListenError) {
            try await server.start()
        } catch {
            fail(error.description)
        }
        let shown = ShownHost.text(host, of: server)
        let port = server.addresses.first?.port ?? self.port
        var lines = ["Serving httpbin at http://\(shown):\(port)/"]
        if let torture { lines.append("Broken answers at http://\(shown):\(torture.port)/") }
        show(lines.joined(separator: "\n"))
        try await server.run(stoppingOn: [.interrupt, .terminate])
        torture?.stop()
        StandardErrorLog.finish()
    }
}
