import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing
import URLClient

@Suite("Arrival time of a request over TLS")
struct ArrivalOverTLSTests {
    @Test("The arrival time is unknown, because a readable record may have no content")
    func unknown() async throws {
        let arrivals = SyncHandler { request in
            Response(.ok, body: .text(request.storage.arrival == .max ? "unknown" : "known"))
        }
        try await SecureServer.run(try SecureServer.context(), arrivals) { port, folder in
            let client = TestClient("https://a.test:\(port)", at: ConnectTarget(host: "127.0.0.1"))
            {
                $0.tls.authorities = .file(folder.path("ca.pem"))
            }
            for _ in 1...3 {
                let text = try await client.get().text
                #expect(text == "unknown")
            }
        }
    }
}
