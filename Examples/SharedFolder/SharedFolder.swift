// SharedFolder: a folder that file managers can mount, by WebDAV.
//
//   swift run --package-path Examples SharedFolder [PORT] [FOLDER]
//   curl -T notes.txt localhost:8080/share/notes.txt
//   cadaver http://localhost:8080/share/

import HTTPServerToolkit
import WebDAVKit

@main
struct SharedFolder {
    static func main() async throws {
        let words = CommandLine.arguments
        let store = try LocalStore(root: words.count > 2 ? words[2] : ".")
        var router = Router()
        router.mountWebDAV("/share", WebDAVHandler(store: store, locks: MemoryLockStore()))
        let port = words.count > 1 ? UInt16(words[1]) : nil
        let configuration = ServerConfiguration(host: "127.0.0.1", port: port ?? 8080)
        // Without a login, a page elsewhere could have its own name lead here (DNS rebinding).
        try await HTTPServer(configuration, handler: HostCheckHandler(router)).run()
    }
}
