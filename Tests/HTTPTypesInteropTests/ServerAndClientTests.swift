#if HTTPTypes
    import Foundation
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import HTTPToolkitTesting
    import HTTPTypes
    import HTTPTypesClient
    import HTTPTypesServer
    import Testing
    import URLClient

    @Suite("Messages of swift-http-types, of the server and of the client")
    struct ServerAndClientTests {
        @Test("Request and response are converted in a handler, framing fields left out")
        func handler() async throws {
            let app = TestApplication(
                AsyncHandler { request in
                    let head = HTTPRequest(request)
                    let text = "\(head.method) \(head.scheme ?? "-") \(head.authority ?? "-") "
                    let response = HTTPResponse(
                        status: .created,
                        headerFields: [.contentLength: "7", .eTag: "\"1\"", .connection: "close"])
                    return Response(response, body: .text(text + (head.path ?? "-")))
                })
            let response = try await app.response(to: .post("/a?b", fields: [.host: "h:1"]))
            #expect(response.status == .created)
            #expect(response.text == "POST http h:1 /a?b")
            #expect(response.fields[.eTag] == "\"1\"")
            #expect(response.fields[.contentLength] == "18")
            #expect(response.fields[.connection] == nil)
        }

        @Test("A handler's response has its media type and its status")
        func response() {
            let response = HTTPResponse(Response(.accepted, body: .text("a")))
            #expect(response.status.code == 202)
            #expect(response.headerFields[.contentType] == "text/plain; charset=utf-8")
        }

        @Test("A client's request keeps URL, method and fields")
        func clientRequest() throws {
            let head = HTTPRequest(
                method: .put, scheme: "http", authority: "[::1]:8080", path: "/a%20b?c=d",
                headerFields: [.accept: "*/*"])
            let request = try #require(ClientRequest(head, body: .text("x")))
            #expect(request.url.absoluteString == "http://[::1]:8080/a%20b?c=d")
            #expect(request.method == .put)
            #expect(request.fields[.accept] == "*/*")
            #expect(request.body.length == 1)
            #expect(HTTPRequest(request) == head)
        }

        @Test("User, password and fragment of a URL are left out")
        func secrets() {
            let request = HTTPRequest(ClientRequest(.get, "https://a:b@h/#c"))
            #expect(request.scheme == "https")
            #expect(request.authority == "h")
            #expect(request.path == "/")
        }

        @Test("A request without a scheme, or with CONNECT, gives no client request")
        func none() {
            let head = HTTPRequest(method: .get, scheme: nil, authority: "h", path: "/")
            #expect(ClientRequest(head) == nil)
            let tunnel = HTTPRequest(
                method: .connect, scheme: "http", authority: "h:1", path: nil)
            #expect(ClientRequest(tunnel) == nil)
        }

        @Test(
            "A scheme, authority or path that would change another part of the URL is refused",
            arguments: [
                ("http", "h", ".example.net/x"), ("http", "h", "@example.net/"),
                ("http", "h", ":81/"), ("http", "h", "*"), ("http", "h", "?a"), ("http", "h", "x/"),
                ("http", "example.net/", "/"), ("http", "example.net?", "/"),
                ("http", "example.net#", "/"), ("http", "h@example.net", "/"),
                ("http", "example.net\\", "/"), ("http://example.net/", "h", "/"),
                ("http:", "h", "/"), ("http", "h", "/a#b"), ("http", "h", "/?q=C#"),
            ])
        func otherHost(_ scheme: String, _ authority: String, _ path: String) {
            let head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
            #expect(ClientRequest(head) == nil)
        }

        @Test("A request without a path gets the path /", arguments: ["", nil] as [String?])
        func emptyPath(_ path: String?) throws {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "h:1", path: path)
            #expect(try #require(ClientRequest(head)).url.absoluteString == "http://h:1/")
        }

        @Test("A client's response keeps status and fields")
        func clientResponse() {
            let response = ClientResponse(
                url: ClientRequest(.get, "http://h/").url, status: .notFound,
                fields: ["X-A": "1", "X-A": "2"])
            let head = HTTPResponse(response)
            #expect(head.status.code == 404)
            #expect(head.headerFields.map(\.value) == ["1", "2"])
        }
    }
#endif
