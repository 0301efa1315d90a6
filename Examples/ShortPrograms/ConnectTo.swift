// One of the programs whose lines Docs/ShortPrograms.md counts: those between the marks.

import HTTPParser
import URLClient

func connectTo() async throws {
    // begin
    var request = ClientRequest(.get, "http://example.org/")
    request.connectTo = ConnectTarget(host: "127.0.0.1", port: 8080)
    let (content, response) = try await ClientSession().data(for: request)
    print(response.status.code, content.count)
    // end
}
