// DynamicSite: a folder whose pages are templates. Style sheets, scripts and pictures are sent as
// they are; in pages `%variable%` becomes a value, escaped for HTML.
//
//   swift run --package-path Examples DynamicSite [PORT [FOLDER]]
//   curl --location localhost:8080/

import HTTPServerToolkit

let arguments = CommandLine.arguments.dropFirst()
let port = arguments.first.flatMap { UInt16($0) } ?? 8080
let website = arguments.dropFirst().first ?? "Examples/DynamicSite/Website"

var router = Router()
router.mount("/", FileHandler(root: website))
router.route(
    .get, matching: #"/(.*/)?([^/]*\.html)?"#,
    to: TemplateHandler(root: website) { request in
        ["variable": "value", "peer": .text(request.peer.host)]
    })

let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: router).run()
