// MigrationGuide: all routes of Docs/Migrating-from-GCDWebServer.md in one server.
//
//   swift run --package-path Examples MigrationGuide [PORT] [FOLDER]
//   curl localhost:8080/users/7 'localhost:8080/search?q=a+b' localhost:8080/count

import HTTPServerToolkit

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
var router = try routes()
answers(&router)
requests(&router)
try responses(&router)
if let folder = CommandLine.arguments.dropFirst(2).first {
    router.mount("/inbox", try customizedUploader(on: folder))
}
let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: router).run()
