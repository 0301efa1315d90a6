import HTTPParser
import HTTPServerCore
internal import ToolkitSystem

/// Answers a request with its description as JSON: method, target, version, fields, content in
/// base64, trailers and peer.
struct EchoHandler: Handler {
    /// The most bytes of content; above it 413.
    let byteLimit: Int64

    func answer(_ request: Request) -> Answer { .later { try await echo(request) } }

    private func echo(_ request: Request) async throws -> Response {
        let content = try await request.body.collect(upTo: Int(clamping: byteLimit))
        let trailers = await request.body.trailers
        // Long content takes a while to write, so this does not run on the event loop.
        return try await BlockingPool.computing.runUnlessCancelled {
            Self.response(request, content, trailers)
        }
    }

    private static func response(
        _ request: Request, _ content: [UInt8], _ trailers: HTTPFields
    ) -> Response {
        var json = ByteBuffer(capacity: 512 + content.count * 2)
        json.append(literal: "{\"method\":")
        json.append(json: request.method.name)
        json.append(literal: ",\"target\":")
        json.append(json: request.target.text)
        json.append(literal: ",\"version\":")
        json.append(json: "1.\(request.version.minor)")
        json.append(literal: ",\"fields\":")
        json.append(array: Array(request.wireFields), append)
        json.append(literal: ",\"content\":")
        json.append(base64: content)
        json.append(literal: ",\"trailers\":")
        json.append(array: Array(trailers), append)
        json.append(literal: ",\"peer\":")
        json.append(json: request.peer.description)
        json.append(literal: "}\n")
        let bytes = json.bytes
        let array = unsafe Array(unsafeUninitializedCapacity: bytes.count) { room, count in
            for index in bytes.indices { unsafe room[index] = bytes[index] }
            count = bytes.count
        }
        return Response(.ok, body: .bytes(array, mediaType: "application/json"))
    }

    private static func append(_ json: inout ByteBuffer, _ field: HTTPField) {
        json.append(literal: "[")
        json.append(json: field.name.text)
        json.append(literal: ",")
        json.append(json: field.value)
        json.append(literal: "]")
    }
}
