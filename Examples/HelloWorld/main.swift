// HelloWorld: one page for every path.
//
//   swift run --package-path Examples HelloWorld [PORT]
//   curl localhost:8080/whatever

import HTTPServerToolkit

let port = CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080
let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
let page = SyncHandler { _ in .html("<html><body><p>Hello World</p></body></html>\n") }
print("Visit http://127.0.0.1:\(port)/")
try await HTTPServer(configuration, handler: page).run()
