// StaticSite: a folder as a web site, with one path that the program answers itself.
//
//   swift run --package-path Examples StaticSite [PORT [FOLDER]]
//   curl localhost:8080/
//   curl localhost:8080/status
//
// Of two routes that match, the one added last wins: the folder comes first, and what is added
// after it stands in front of it.

import HTTPParser
import HTTPServerCore

@main
struct StaticSite {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let port = arguments.first.flatMap { UInt16($0) } ?? 8080
        let folder = arguments.dropFirst().first ?? "."

        var options = FileHandler.Options()
        options.listsDirectories = false
        options.cacheAge = 60

        var router = Router()
        do {
            router.mount("/", try FileHandler(directory: folder, options: options))
        } catch {
            return print("\(folder): \(error.reason)")
        }
        router.on(.get, "/status") { request in
            let json = #"{"peer":"\#(request.peer.host)"}"#
            return Response(
                .ok, fields: [.cacheControl: "no-store"],
                body: .text(json + "\n", mediaType: "application/json"))
        }

        var configuration = ServerConfiguration(host: "127.0.0.1", port: port)
        configuration.accessLog = { print($0.combined) }
        print("Serving \(folder) at http://127.0.0.1:\(port)/")
        try await HTTPServer(configuration, handler: router).run()
    }
}
