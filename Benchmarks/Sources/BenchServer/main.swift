// The toolkit's server with the routes that `server.py` asks every server for.
//
//   BenchServer --port N --threads N --root DIR [--routes N] [--adding PER-SECOND]
//               [--bare | --dressed] [--log FILE] [--certificate FILE --key FILE]
//
// With `--routes` there are so many paths /r/0, /r/1 ... and as many /p/0/:id ... beside them;
// with `--adding` routes are added while it serves. `--bare` serves / by nothing but a handler;
// `--dressed` by a router of 200 routes, with an access log and a middleware around it.
// With a certificate it speaks TLS.

import HTTPServerTLS
import HTTPServerToolkit
import HTTPServerWebSocket

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The value after `name` on the command line.
func argument(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}

var configuration = ServerConfiguration(port: argument("--port").flatMap(UInt16.init) ?? 0)
HTTPServer.ignoreBrokenPipes()
configuration.loops = argument("--threads").flatMap(Int.init) ?? 1
if let certificate = argument("--certificate"), let key = argument("--key") {
    let files = TLSCertificate.files(chain: certificate, key: key)
    configuration.secure(by: try TLSContext(TLSConfiguration(certificates: [files])))
}

var router = Router()
// The last match wins, so the files come first: /1k and /100k are theirs.
var files = FileHandler.Options()
// As `httpkit serve` has it.
files.sharesChecks = true
router.mount("/", FileHandler(root: argument("--root") ?? ".", options: files))
router.on(.get, "/") { _ in
    Response(.ok, body: .text("Hello, world!"))
}
router.on(.get, "/async") { _ async in
    Response(.ok, body: .text("Hello, world!"))
}
router.on(.post, "/upload") { request in
    var received = 0
    for try await chunk in request.body { received += chunk.count }
    return Response(.ok, body: .text("\(received)"))
}
router.on(.post, "/multipart") { request in
    var (parts, received) = (0, 0)
    for try await part in try request.multipart() {
        parts += 1
        for try await piece in part.content { received += piece.count }
    }
    return Response(.ok, body: .text("\(parts) parts, \(received) bytes"))
}
router.on(.post, "/form") { request in
    Response(.ok, body: .text("\(try await request.form().fields.count) fields"))
}
router.on(.post, "/number") { request in
    Response(.ok, body: .text("\(try await request.json(Double.self))"))
}
router.addOrders()
router.on(.get, "/echo") { request in
    try request.webSocket { socket in
        for try await message in socket { try await socket.send(message) }
    }
}
router.on(.get, "/stream") { _ in
    Response(
        .ok,
        body: .stream { writer in
            for number in 1...3 { try await writer.write("\(number)\n") }
        })
}

// One answer of 20 KiB, as it is and compressed: taken from memory, or made again each time.
let json = SampleJSON.bytes(20 << 10)
let answer = SyncHandler { _ in
    Response(.ok, body: .bytes(json, mediaType: "application/json"))
}
// The same from a new buffer each time, as an encoder would make it.
let copied = SyncHandler { _ in
    Response(.ok, body: .bytes(Array(json[...]), mediaType: "application/json"))
}
var uncached = CompressionHandler.Options()
uncached.cacheByteLimit = 0
router.route(.get, "/json", to: answer)
router.route(.get, "/json-gzip", to: CompressionHandler(answer))
router.route(.get, "/json-copied", to: copied)
router.route(.get, "/json-copied-gzip", to: CompressionHandler(copied))
router.route(.get, "/json-uncached", to: CompressionHandler(answer, options: uncached))

let hello = SyncHandler { _ in Response(.ok, body: .text("Hello, world!")) }

func run(_ handler: some Handler) async throws -> Never {
    try await HTTPServer(configuration, handler: handler).run()
    exit(0)
}

if CommandLine.arguments.contains("--bare") { try await run(hello) }
if CommandLine.arguments.contains("--dressed") {
    var many = Router()
    for number in 0..<199 { many.route(.get, "/route/\(number)", to: hello) }
    many.route(.get, "/", to: hello)
    let log = try AccessLogWriter(path: argument("--log") ?? "/dev/null")
    configuration.accessLog = { log.write($0) }
    try await run(SecurityFieldsHandler(many))
}

for index in 0..<(argument("--routes").flatMap(Int.init) ?? 0) {
    router.on(.get, "/r/\(index)") { _ in Response(.ok, body: .text("Hello, world!")) }
    router.on(.get, "/p/\(index)/:id") { _ in Response(.ok, body: .text("Hello, world!")) }
}

guard let perSecond = argument("--adding").flatMap(Int.init) else { try await run(router) }
let live = LiveRouter(router)
Task {
    for index in 0... {
        live.update { router in
            router.on(.get, "/new/\(index)") { _ in Response(.ok, body: .text("new")) }
        }
        try await Task.sleep(for: .seconds(1) / perSecond)
    }
}
try await run(live)
