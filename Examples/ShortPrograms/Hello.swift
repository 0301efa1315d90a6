// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPServerToolkit

func hello() async throws {
    // begin
    var router = Router()
    router.get("/hello") { _ in "Hello" }
    try await HTTPServer(ServerConfiguration(port: 8080), handler: router).run()
    // end
}
