// AsyncAnswers: the same page at once, after a while, and piece by piece. Nothing blocks while an
// answer waits: there is no thread for each request.
//
//   swift run --package-path Examples AsyncAnswers [PORT]
//   curl --no-buffer localhost:8080/at-once localhost:8080/later localhost:8080/piecewise

import HTTPServerToolkit

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
let pieces = ["<html><body><p>\n", "Hello World!\n", "</p></body></html>\n"]
var router = Router()

router.on(.get, "/at-once") { _ in .html(pieces.joined()) }

router.on(.get, "/later") { _ in
    try await Task.sleep(for: .milliseconds(300))
    return .html(pieces.joined())
}

router.on(.get, "/piecewise") { _ in
    Response(
        body: .pulled(from: pieces[...], mediaType: "text/html") { rest in
            try await Task.sleep(for: .milliseconds(100))
            return rest.popFirst().map { Array($0.utf8) }
        })
}

let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: router).run()
