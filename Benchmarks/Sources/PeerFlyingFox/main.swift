// FlyingFox with the routes of BenchServer. It runs on Swift's own pool of threads, whose size is
// not a parameter.
//
//   PeerFlyingFox --port N --root DIR

import FlyingFox
import FlyingSocks
import Foundation

/// The value after `name` on the command line.
func argument(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}

let port = argument("--port").flatMap(UInt16.init) ?? 0
let root = URL(fileURLWithPath: argument("--root") ?? ".")
let hello = Data("Hello, world!".utf8)
let text: [HTTPHeader: String] = [.contentType: "text/plain; charset=utf-8"]

let server = HTTPServer(
    address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
await server.appendRoute("GET /") { _ in
    HTTPResponse(statusCode: .ok, headers: HTTPHeaders(text), body: hello)
}
await server.appendRoute("GET /async") { _ in
    HTTPResponse(statusCode: .ok, headers: HTTPHeaders(text), body: hello)
}
await server.appendRoute("POST /upload") { request in
    var received = 0
    for try await chunk in request.bodySequence { received += chunk.count }
    return HTTPResponse(statusCode: .ok, body: Data("\(received)".utf8))
}
let jsonType: [HTTPHeader: String] = [.contentType: "application/json"]
await server.appendRoute("POST /order") { request in
    let order = try JSONDecoder().decode(Order.self, from: await request.bodyData)
    let receipt = Receipt(id: order.id, count: order.items.count)
    return HTTPResponse(
        statusCode: .ok, headers: HTTPHeaders(jsonType), body: try JSONEncoder().encode(receipt))
}
await server.appendRoute("POST /note") { request in
    let note = try JSONDecoder().decode(Note.self, from: await request.bodyData)
    let receipt = Receipt(id: note.id, count: note.text.utf8.count)
    return HTTPResponse(
        statusCode: .ok, headers: HTTPHeaders(jsonType), body: try JSONEncoder().encode(receipt))
}
await server.appendRoute("GET /*", to: DirectoryHTTPHandler(root: root))
try await server.run()
