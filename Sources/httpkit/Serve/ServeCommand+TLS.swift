import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
import HTTPServerTLS
internal import ToolkitSystem

/// The parts of `serve` for encrypted connections.
extension ServeCommand {
    /// Adds the HSTS field of --hsts, so that browsers use only HTTPS.
    func strict(_ handler: any Handler) -> any Handler {
        guard let seconds = tls.hsts else { return handler }
        var options = SecurityFieldsHandler.Options()
        options.forbidsSniffing = false
        options.referrerPolicy = nil
        options.transportSecurity = .init(maxAge: .seconds(seconds))
        return SecurityFieldsHandler(handler, options: options)
    }

    /// The server that redirects plain HTTP to `server`; `nil` without --redirect-http.
    func redirectServer(to server: HTTPServer) -> HTTPServer? {
        guard let plainPort = tls.redirectHTTP else { return nil }
        var configuration = ServerConfiguration(host: listen.host, port: plainPort)
        if listen.isInterface {
            configuration.endpoints = [.interface(listen.host, port: plainPort)]
        }
        let redirect = ServerRedirectHandler(server: server)
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

    /// Stops the server of plain HTTP on the signals that stop the main server, so that both stop
    /// accepting connections and have the same time to end.
    static func stopOnSignals(_ redirect: HTTPServer?) -> SignalWatch? {
        redirect.map { redirect in
            SignalWatch([.interrupt, .terminate]) { _ in
                Task { await redirect.shutdown() }
            }
        }
    }
}

/// Redirects to a server, whose port may be one that the system or a service manager chose.
struct ServerRedirectHandler: Handler {
    let server: HTTPServer

    /// - Throws: 503 while the server has no port. Clients may cache a redirect forever, so an
    ///   error is better than a wrong port.
    func answer(_ request: Request) throws -> Answer {
        guard let port = server.addresses.lazy.compactMap(\.port).first else {
            throw HTTPError(.serviceUnavailable, "the server does not listen at a port")
        }
        return try HTTPSRedirectHandler(port: port).answer(request)
    }
}
