// Redirect: sends browsers from the root to a page. The location may be relative; 302 is the
// default, and 301, 303, 307 and 308 are there for other purposes.
//
//   swift run --package-path Examples Redirect [PORT]
//   curl --location localhost:8080/

import HTTPServerToolkit

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
var router = Router()
router.on(.get, "/") { _ in .redirect(to: "index.html") }
router.on(.get, "/old/:name") { request in
    .redirect(
        to: "/index.html", request.parameters["name"] == "moved" ? .permanentRedirect : .seeOther)
}
router.on(.get, "/index.html") { _ in .html("<p>The index</p>\n") }
let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: router).run()
