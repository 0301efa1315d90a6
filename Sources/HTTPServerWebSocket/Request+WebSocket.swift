internal import HTTPParser
public import HTTPServerCore
internal import HTTPServerKit
internal import Logging
internal import WebSocketConnections
public import WebSocketFrames

/// The pages that may open a WebSocket. Browsers let any page try, and send the user's cookies with
/// the request.
public enum WebSocketOrigins: Hashable, Sendable {
    /// Pages of the requested host, and clients that send no Origin.
    case sameHost
    /// Pages of these origins, such as `https://app.example.org`, and all that `sameHost` allows.
    case listed(Set<String>)
    /// All pages.
    case any
}

extension Request {
    /// Accepts a WebSocket (RFC 6455 section 4.2), and runs `body` with it.
    ///
    /// Return the resulting response from the handler. When `body` returns, the connection is
    /// closed with 1000; when it throws, with 1011. The task of `body` is cancelled when the client
    /// disappears without a close frame. When the client sends a close frame or the server stops, a
    /// reader gets the end of the sequence; if `body` has never read from the WebSocket, its task
    /// is cancelled.
    /// - Parameters:
    ///   - protocols: the subprotocols that the server supports. The client's first choice among
    ///     them is used; without a common one, none is.
    ///   - origins: the pages that may open one.
    ///   - compression: the policy for permessage-deflate (RFC 7692); `nil` for no compression.
    ///   - options: limits and times.
    ///   - body: exchanges messages with the client, on the event loop; it must not block.
    /// - Throws: `HTTPError`: 426 or 400 for an invalid handshake, 403 for a page of another
    ///   origin.
    public func webSocket(
        protocols: [String] = [], origins: WebSocketOrigins = .sameHost,
        compression: DeflateExtension.Policy? = DeflateExtension.Policy(),
        options: WebSocketOptions = WebSocketOptions(),
        _ body: @escaping @Sendable (WebSocket) async throws -> Void
    ) throws -> Response {
        guard allows(origins) else {
            throw HTTPError(.forbidden, "pages of other sites must not open a WebSocket here")
        }
        let (handshake, deflate): (WebSocketRequest, DeflateExtension?)
        let (chosen, accepted): (String?, HTTPFields)
        do throws(WebSocketHandshakeError) {
            handshake = try WebSocketRequest(
                method: method, version: version, fields: ownFields)
            deflate = compression.flatMap {
                DeflateExtension.accept(handshake.deflateOffers, policy: $0)
            }
            chosen = handshake.firstProtocol(among: protocols)
            accepted = try handshake.answer(protocol: chosen, deflate: deflate)
        } catch {
            throw HTTPError(
                error.suggestedStatus, error.description,
                fields: error.suggestedFields.withoutConnection)
        }
        let (info, id, target) = (connection, traceID, originalTarget.text)
        let upgrade: ResponseBody.Upgrade = { carrier in
            let connection = WebSocketConnection(
                ServerCarrier(base: carrier), on: carrier.loop, role: .server, deflate: deflate,
                options: options)
            let socket = WebSocket(connection, subprotocol: chosen)
            connection.run(body, with: socket, on: carrier.loop) { error in
                info.logger.error(
                    "a WebSocket handler failed",
                    metadata: ["request": "\(id)", "target": "\(target)", "error": "\(error)"])
            }
            return connection
        }
        return Response(
            .switchingProtocols, fields: accepted.withoutConnection,
            body: ResponseBody(.upgrade(upgrade), mediaType: ""))
    }

    private var ownFields: HTTPFields {
        var copy = HTTPFields()
        for field in fields { copy.append(field) }
        return copy
    }

    private func allows(_ origins: WebSocketOrigins) -> Bool {
        guard let origin = fields[.origin] else { return true }
        if case .any = origins { return true }
        guard OriginCheckHandler.isValid(origin) else { return false }
        if case .listed(let known) = origins, known.contains(origin) { return true }
        return OriginCheckHandler.isOwn(origin, host)
    }
}

extension HTTPFields {
    /// The serialiser writes Connection itself.
    fileprivate var withoutConnection: HTTPFields {
        var fields = self
        fields.remove(.connection)
        return fields
    }
}
