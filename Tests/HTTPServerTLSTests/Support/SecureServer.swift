import HTTPParser
import HTTPServerCore
import HTTPServerKit
import HTTPServerTLS
import TestSupport
import Testing

/// Servers over TLS, with certificates of one authority.
enum SecureServer {
    static let authority = Result { try MadeCertificate("CA", isAuthority: true) }

    /// Responds with the facts of the connection that a handler can read.
    static let facts = SyncHandler { request in
        let security = request.connection.security
        let identity = request.identity
        let facts = [
            request.scheme, security?.serverName ?? "-", security?.version ?? "-",
            identity?.name ?? "-", identity?.scheme?.rawValue ?? "-",
            security?.peerCertificate?.subject ?? "-",
        ]
        return Response(.ok, body: .text(facts.joined(separator: " ")))
    }

    static func leaf(_ name: String) throws -> MadeCertificate {
        try MadeCertificate(name, names: [name], issuer: try authority.get())
    }

    /// A context with a certificate for `a.test`, and with changes to its configuration.
    static func context(
        _ change: (inout TLSConfiguration) throws -> Void = { _ in }
    ) throws -> TLSContext {
        var configuration = TLSConfiguration(certificates: [try leaf("a.test").pair])
        try change(&configuration)
        return try TLSContext(configuration)
    }

    /// Runs a server while the body runs; the body gets its port and a folder with `ca.pem`.
    static func run(
        _ context: TLSContext, _ handler: any Handler = facts,
        _ body: (UInt16, ServerDirectory) async throws -> Void
    ) async throws {
        let folder = try ServerDirectory()
        try folder.write("ca.pem", try authority.get().text)
        let server = HTTPServer(
            ServerConfiguration(
                endpoints: [.tcp(host: "127.0.0.1", port: 0).secured(by: context)]),
            handler: handler)
        try await server.start()
        let port = try #require(server.addresses.first?.port)
        #expect(server.url == "https://127.0.0.1:\(port)/")
        do {
            try await body(port, folder)
        } catch {
            await server.shutdown(grace: .zero)
            throw error
        }
        await server.shutdown(grace: .zero)
    }
}
