import Foundation
import TestSupport
import Testing

@Suite("httpkit serve --redirect-http", .fewAtOnce, .timeLimit(.minutes(3)))
struct ServeRedirectTests {
    @Test("On a signal the port for redirects closes, and a request to the other port completes")
    func stop() async throws {
        let (folder, place) = (try Folder(), try Folder())
        let server = try await ServeProcess(
            folder, ["--tls-development", "--redirect-http", "0", "--echo", "/echo"],
            by: ["/usr/bin/env", "XDG_CONFIG_HOME=\(place.path)"])
        let line = try #require(server.output.firstMatch(of: #/Redirecting http:.*:([0-9]+)/ to/#))
        let plainPort = try #require(UInt16(line.output.1))
        let socket = try PlainSocket(port: server.port, isSecure: true)
        try await socket.send(
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                + "Content-Length: 4\r\n\r\n")
        // The request has begun.
        #expect(try await socket.receive(through: "\r\n\r\n").contains(" 100 "))
        server.signal(SIGTERM)
        try await waitUntil { (try? PlainSocket(port: plainPort)) == nil }
        try await socket.send("abcd")
        #expect(try await socket.response().status == 200)
        #expect(await server.waitForEnd() == 0)
    }
}
