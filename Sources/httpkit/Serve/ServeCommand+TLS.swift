import HTTPServerCore
internal import HTTPServerKit
import HTTPServerTLS
internal import ToolkitSystem

/// The parts of `serve` that come with encrypted connections.
extension ServeCommand {
    /// Has browsers use HTTPS alone, where that was asked for.
    func strict(_ handler: any Handler) -> any Handler {
        guard let seconds = tls.hsts else { return handler }
        var options = SecurityFieldsHandler.Options()
        options.forbidsSniffing = false
        options.referrerPolicy = nil
        options.transportSecurity = .init(maxAge: .seconds(seconds))
        return SecurityFieldsHandler(handler, options: options)
    }

    /// Sends clients of plain HTTP to the server.
    func redirectServer(to server: HTTPServer) -> HTTPServer? {
        guard let plainPort = tls.redirectHTTP else { return nil }
        var configuration = ServerConfiguration(host: listen.host, port: plainPort)
        if listen.isInterface {
            configuration.endpoints = [.interface(listen.host, port: plainPort)]
        }
        let redirect = ServerRedirectHandler(server: server, port: listen.port)
        guard let folder = tls.acmeChallenges else {
            return HTTPServer(configuration, handler: redirect)
        }
        do throws(SystemError) {
            return HTTPServer(
                configuration, handler: try ACMEChallengeHandler(redirect, webroot: folder))
        } catch {
            fail("--acme-challenges: \(folder): \(error.reason)")
        }
    }
}

/// Redirects to a server, whose port may be one that the system chose.
private struct ServerRedirectHandler: Handler {
    let server: HTTPServer
    let port: UInt16

    func answer(_ request: Request) throws -> Answer {
        let port = server.addresses.first?.port ?? port
        return try HTTPSRedirectHandler(port: port).answer(request)
    }
}
