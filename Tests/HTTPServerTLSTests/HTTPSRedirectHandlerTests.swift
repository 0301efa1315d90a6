import HTTPServerCore
import HTTPServerTLS
import TestSupport
import Testing

@Suite("Redirects from HTTP to HTTPS")
struct HTTPSRedirectHandlerTests {
    private func answer(
        _ request: String, host: String? = "a.test:80", port: UInt16 = 443
    ) async throws -> ServerAnswer {
        let connection = MemoryConnection(HTTPSRedirectHandler(port: port))
        let field = host.map { "Host: \($0)\r\n" } ?? ""
        connection.send("\(request) HTTP/1.1\r\n\(field)Connection: close\r\n\r\n")
        connection.end()
        let heads: Set<Int> = request.hasPrefix("HEAD") ? [0] : []
        return try #require(
            ServerAnswer.all(try await connection.closed().output, heads: heads).first)
    }

    @Test(
        "GET and HEAD are redirected to the same URL at the port of TLS",
        arguments: [
            ("a.test", 443, "https://a.test/x?y"), ("a.test:8080", 443, "https://a.test/x?y"),
            ("a.test:8080", 8443, "https://a.test:8443/x?y"),
            ("[::1]:80", 8443, "https://[::1]:8443/x?y"), ("[::1]", 443, "https://[::1]/x?y"),
        ])
    func redirect(_ host: String, _ port: UInt16, _ location: String) async throws {
        for method in ["GET", "HEAD"] {
            let answer = try await answer("\(method) /x?y", host: host, port: port)
            #expect(answer.status == 308)
            #expect(answer["Location"] == location)
        }
    }

    @Test("Other methods and requests without a host or path are refused")
    func refusals() async throws {
        for method in ["POST", "PUT", "DELETE", "PROPFIND"] {
            #expect(try await answer("\(method) /").status == 400)
        }
        #expect(try await answer("GET /", host: "").status == 400)
        #expect(try await answer("OPTIONS *").status == 400)
    }
}
