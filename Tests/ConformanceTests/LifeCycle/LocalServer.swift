import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import ToolkitSystem

/// A server inside the test process. It responds with the target; `/gate` first waits for the gate.
struct LocalServer {
    let server: HTTPServer
    let gate = ServerGate()
    let begun = ServerLog<String>()

    init(_ change: (inout ServerConfiguration) -> Void = { _ in }) {
        var configuration = ServerConfiguration(host: "127.0.0.1", port: 0)
        // During a suspension the system may give its port to a client of another test.
        configuration.rebindTimeout = .seconds(60)
        // On a busy machine there may be no connection for longer than the default of a second.
        configuration.disconnectionInterval = .seconds(3600)
        configuration.loops = 2
        configuration.serverName = ""
        configuration.headTimeout = .seconds(120)
        change(&configuration)
        let (gate, begun) = (gate, begun)
        server = HTTPServer(
            configuration,
            handler: AsyncHandler { request in
                begun.add(request.target.text)
                if request.target.text == "/gate" { await gate.wait() }
                return Response(.ok, body: .text(request.target.text))
            })
    }

    /// Starts the server, and returns its port.
    func start() async throws -> UInt16 {
        try await server.start()
        return try #require(server.addresses.first?.port)
    }

    /// Starts the server as soon as its port is free.
    func startWhenFree() async throws -> UInt16 {
        var port: UInt16?
        try await waitUntil {
            do { port = try await start() } catch ListenError.addressInUse {}
            return port != nil
        }
        return try #require(port)
    }

    static func get(_ target: String) -> String {
        "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n"
    }

    /// Binds a port as soon as it is free; a client of another test may use it for a short time.
    static func occupy(_ port: UInt16) async throws -> [Listener] {
        var taken: [Listener]?
        try await waitUntil {
            taken = try? Listener.bind(host: "127.0.0.1", port: port, backlog: 8)
            return taken != nil
        }
        return try #require(taken)
    }

    /// Whether a new connection is served.
    static func serves(_ port: UInt16) async -> Bool {
        (try? await TestClient(port: port).get().text) == "/"
    }
}

/// The events of a server, one after another.
final class EventReader {
    private var iterator: AsyncStream<HTTPServer.Event>.Iterator

    init(_ server: HTTPServer) {
        iterator = server.events.makeAsyncIterator()
    }

    /// The next event; waits for it as long as the time limit of the test allows.
    func next() async -> HTTPServer.Event? {
        await iterator.next(isolation: #isolation)
    }
}
