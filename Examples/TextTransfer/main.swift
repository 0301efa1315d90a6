// TextTransfer: a text that is written here and read in a browser. Each line on standard input is
// added to a file, and the file is shared while it grows.
//
//   swift run --package-path Examples TextTransfer [PORT [FILE]]
//   curl localhost:8080/
//
// The handlers choose their requests themselves. They are asked in turn, the last one first, by the
// head of the request alone: nobody has to read the content to answer.

import HTTPServerToolkit

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Answers the root with the file as it is at this moment.
struct TextFile: SelectiveHandler {
    let path: String

    func accepts(_ request: Request) -> Bool { request.method == .get && request.path == "/" }

    func answer(_ request: Request) throws -> Answer {
        .now(try .file(path: path, for: request, mediaType: "text/plain; charset=utf-8"))
    }
}

/// Answers what nobody else wants.
struct NothingElse: SelectiveHandler {
    func accepts(_ request: Request) -> Bool { true }

    func answer(_ request: Request) throws -> Answer {
        throw HTTPError(.notImplemented, "there is only the text")
    }
}

let arguments = CommandLine.arguments.dropFirst()
let port = arguments.first.flatMap { UInt16($0) } ?? 8080
let path = arguments.dropFirst().first ?? "text.txt"

var router = Router()
router.add(NothingElse())
router.add(TextFile(path: path))
let server = HTTPServer(ServerConfiguration(host: "127.0.0.1", port: port), handler: router)
try await server.start()

let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
guard file >= 0 else { fatalError("\(path) cannot be written") }
print("Visit http://127.0.0.1:\(server.addresses.first?.port ?? port)/ while you write.")
while let line = readLine(strippingNewline: false) {
    let bytes = Array(line.utf8)
    guard write(file, bytes, bytes.count) == bytes.count else { break }
}
await server.shutdown()
