// StaticSite: a folder as a web site: index files, listings, conditions, ranges. Routes of one's own
// in front of a folder are in DynamicSite.
//
//   swift run --package-path Examples StaticSite [PORT [FOLDER]]
//   curl localhost:8080/

import HTTPServerToolkit

let arguments = CommandLine.arguments.dropFirst()
var options = FileHandler.Options()
options.cacheAge = 3600
let site = FileHandler(root: arguments.dropFirst().first ?? ".", options: options)
let port = arguments.first.flatMap { UInt16($0) } ?? 8080
let configuration = ServerConfiguration(host: "127.0.0.1", port: port)
try await HTTPServer(configuration, handler: site).run()
