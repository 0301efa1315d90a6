internal import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit

/// Lets handlers see the client behind trusted proxies instead of the last proxy.
///
/// ```swift
/// let proxies = try TrustedProxies(["loopback"])
/// let handler = ForwardedHandler(
///     router, proxies: proxies, fields: [.xForwardedFor, .xForwardedProto])
/// ```
///
/// `Request.peer` is then the client's address, and `Request.scheme`, `Request.host` and
/// `Request.url` are those that the client used. Rate limits, delays after failed logins, access
/// logs, checks of Host and Origin, and the Destination of WebDAV use these values.
/// `ConnectionInfo.peer` stays the peer of the connection. Put this handler around all others;
/// hooks that run before handlers see the peer of the connection.
///
/// A request of a trusted proxy whose fields are malformed or contradict each other gets 400.
/// Otherwise it would count as the proxy's own request, which a client could use to escape limits.
public struct ForwardedHandler: Handler {
    private let inner: any Handler
    private let fields: ForwardedFields

    /// Creates a handler.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - proxies: the proxies that are trusted.
    ///   - fields: the fields that the proxies write; see ``ForwardedFields/names``.
    public init(
        _ handler: some Handler, proxies: TrustedProxies, fields: ForwardedFields.Names
    ) {
        inner = handler
        self.fields = ForwardedFields(proxies: proxies, names: fields)
    }

    /// Answers with the inner handler, which sees the client.
    public func answer(_ request: Request) throws -> Answer {
        do throws(ForwardedFieldError) {
            if let client = try fields.client(of: request) { note(client, request) }
        } catch {
            throw HTTPError(.badRequest, "\(error)")
        }
        return try inner.answer(request)
    }

    private func note(_ client: ForwardedClient, _ request: Request) {
        if let peer = client.peer { request[ForwardedPeerKey.self] = peer }
        guard client.scheme != nil || client.host != nil else { return }
        request[ForwardedOriginKey.self] = ForwardedOrigin(
            scheme: client.scheme, host: client.host)
    }
}
