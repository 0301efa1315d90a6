// Hummingbird with the routes of BenchServer.
//
//   PeerHummingbird --port N --threads N --root DIR

import Hummingbird
import Logging
import NIOPosix

/// The value after `name` on the command line.
func argument(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}

let port = argument("--port").flatMap(Int.init) ?? 0
let threads = argument("--threads").flatMap(Int.init) ?? 1
let root = argument("--root") ?? "."

let router = Router()
router.get("/") { _, _ in "Hello, world!" }
router.get("/async") { _, _ in "Hello, world!" }
router.post("/upload") { request, _ in
    var received = 0
    for try await chunk in request.body { received += chunk.readableBytes }
    return "\(received)"
}
router.post("/order") { request, context in
    let order = try await request.decode(as: Order.self, context: context)
    return Receipt(id: order.id, count: order.items.count)
}
router.post("/note") { request, context in
    let note = try await request.decode(as: Note.self, context: context)
    return Receipt(id: note.id, count: note.text.utf8.count)
}
// After the routes, so that only requests without a route pay for it.
router.add(middleware: FileMiddleware(root))

var logger = Logger(label: "peer")
logger.logLevel = .error
let application = Application(
    router: router,
    configuration: .init(address: .hostname("127.0.0.1", port: port), backlog: 4096),
    eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: threads)),
    logger: logger)
try await application.runService()
