import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Parts of HTTP around a response: trailers, interim responses, other protocols.
extension BinRouter {
    mutating func addMessageParts() {
        group("Around the response")
        answer(
            [.get], "/trailers", "Chunked content, with the fields of the query as trailers.",
            example: "/trailers?X-Checksum=abc"
        ) { request in
            var trailers = HTTPFields()
            for pair in request.query.prefix(20) {
                guard let name = HTTPFieldName(pair.name), !name.decidesFraming,
                    !pair.value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
                else { throw HTTPError(.badRequest, "\(pair.name) cannot be a trailer") }
                trailers.append(name, pair.value)
            }
            if trailers.isEmpty { trailers.append("X-Trailer", "behind the content") }
            let names = trailers.map(\.name.text).joined(separator: ", ")
            let content = JSONValue.object(Self.head(of: request)).bytes
            return Response(
                .ok, fields: [.trailer: names],
                body: .stream(mediaType: "application/json") { [trailers] writer in
                    try await writer.write(content)
                    await writer.setTrailers(trailers)
                })
        }
        wait(
            [.get], "/early-hints", "103 with a Link (RFC 8297), then the response.",
            example: "/early-hints"
        ) { request in
            let link = "</image/svg>; rel=preload; as=image"
            try await request.sendInterim(.earlyHints, fields: [.link: link])
            return JSONValue.object(Self.head(of: request)).response(fields: [.link: link])
        }
        answer([.get], "/ws", "426 with Upgrade; /websocket/echo speaks WebSocket.") { _ in
            throw HTTPError(
                .upgradeRequired, "use WebSocket at /websocket/echo",
                fields: [.upgrade: "websocket"])
        }
    }
}
