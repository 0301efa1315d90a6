// CoreAlone: a server without the kit: the program brings its own routes. It is linked with neither
// zlib nor libcrypto.
//
//   swift run --package-path Examples CoreAlone [PORT]
//   curl localhost:8080/any/path

import HTTPParser
import HTTPServerCore

/// Answers every GET with the target of the request.
struct EchoHandler: Handler {
    func answer(_ request: Request) throws -> Answer {
        guard request.method == .get else { throw HTTPError(.methodNotAllowed) }
        return .now(Response(.ok, body: .text("\(request.target.text)\n")))
    }
}

@main
struct CoreAlone {
    static func main() async throws {
        let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
        let configuration = ServerConfiguration(bare: [.tcp(host: "127.0.0.1", port: port)])
        print("http://127.0.0.1:\(port)/")
        let server = HTTPServer(configuration, handler: EchoHandler())
        try await server.run(stoppingOn: [.interrupt, .terminate])
    }
}
