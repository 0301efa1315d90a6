internal import HTTPParser
public import WebSocketFrames

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ClientSession {
    /// Creates a task that opens a WebSocket (RFC 6455).
    ///
    /// The session's cookies, strict transport security (HSTS), known credentials, proxy, connect
    /// targets, TLS options and timeouts apply to the handshake. Later only the idle timeout
    /// counts, while output waits and the server reads nothing of it.
    /// - Parameters:
    ///   - request: a ws, wss, http or https URL, and further fields of the handshake. Its method
    ///     and its content are ignored.
    ///   - protocols: the subprotocols that are offered, the preferred one first. They must be
    ///     different tokens; anything else traps. If the list is empty, the request's field
    ///     Sec-WebSocket-Protocol is used.
    ///   - compression: the offer of permessage-deflate (RFC 7692); nil for none.
    ///   - options: limits and times of the connection.
    public func webSocketTask(
        with request: ClientRequest, protocols: [String] = [],
        compression: DeflateExtension.Offer? = nil, options: WebSocketOptions = WebSocketOptions()
    ) -> WebSocketTask {
        WebSocketTask(
            self, request,
            WebSocketRunner.Plan(
                request: request.asHandshake, protocols: protocols, compression: compression,
                options: options))
    }

    /// Creates a task that opens a WebSocket by a ws, wss, http or https URL; see
    /// ``webSocketTask(with:protocols:compression:options:)-(ClientRequest,_,_,_)``.
    public func webSocketTask(
        with url: URL, protocols: [String] = [], compression: DeflateExtension.Offer? = nil,
        options: WebSocketOptions = WebSocketOptions()
    ) -> WebSocketTask {
        webSocketTask(
            with: ClientRequest(.get, url), protocols: protocols, compression: compression,
            options: options)
    }
}

extension ClientRequest {
    /// The request of a handshake: GET without content of the http URL that stands for a ws URL
    /// (RFC 6455 section 3), over HTTP/1.1.
    fileprivate var asHandshake: ClientRequest {
        var request = self
        request.method = .get
        request.body = .none
        request.protocols = .http1
        let text = url.absoluteString
        for (scheme, other) in [("ws:", "http:"), ("wss:", "https:")]
        where text.prefix(scheme.count).lowercased() == scheme {
            if let url = URL(string: other + text.dropFirst(scheme.count)) { request.url = url }
        }
        return request
    }
}
