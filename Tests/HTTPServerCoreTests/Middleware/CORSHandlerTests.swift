import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("Fetch standard: CORS")
struct CORSHandlerTests {
    private static let site = "Origin: https://app.example\r\n"
    private static let asks = "Access-Control-Request-Method: "

    private func handler(
        _ speed: Sample.Speed = .immediate, _ change: (inout CORSHandler.Options) -> Void = { _ in }
    ) -> CORSHandler {
        var options = CORSHandler.Options()
        change(&options)
        // The inner handler refuses requests without credentials, as authentication does.
        let inner = Sample.handler(speed) { request in
            guard request.fields[.authorization] != nil else { throw HTTPError(.unauthorized) }
            return Response(.ok, fields: [.vary: "Accept"], body: .text("secret"))
        }
        return CORSHandler(AnyTestHandler(inner), options: options)
    }

    private static let login = "Authorization: Basic YTpi\r\n"

    @Test("A preflight is answered before authentication", arguments: Sample.Speed.allCases)
    func preflight(_ speed: Sample.Speed) async throws {
        let answer = try await exchange(
            handler(speed) { $0.origins = .listed(["https://app.example"]) }, "OPTIONS", "/",
            Self.site + Self.asks + "PUT\r\nAccess-Control-Request-Headers: content-type,x-a\r\n")
        #expect(answer.status == 204)
        #expect(answer["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(answer["Access-Control-Allow-Methods"] == "DELETE, GET, HEAD, PATCH, POST, PUT")
        #expect(answer["Access-Control-Allow-Headers"] == "content-type, x-a")
        #expect(answer["Access-Control-Max-Age"] == "600")
        #expect(answer["Access-Control-Allow-Credentials"] == nil)
        #expect(answer["Vary"]?.contains("Origin") == true)
    }

    @Test(
        "A preflight for a foreign origin, method or field is refused",
        arguments: [
            "Origin: https://evil.example\r\nAccess-Control-Request-Method: GET\r\n",
            "Origin: null\r\nAccess-Control-Request-Method: GET\r\n",
            "Origin: https://app.example.evil\r\nAccess-Control-Request-Method: GET\r\n",
            "Origin: http://app.example\r\nAccess-Control-Request-Method: GET\r\n",
            "Origin: https://app.example\r\nAccess-Control-Request-Method: PROPFIND\r\n",
            "Origin: https://app.example\r\nAccess-Control-Request-Method: put\r\n",
            "Origin: https://app.example\r\nAccess-Control-Request-Method: GET\r\n"
                + "Access-Control-Request-Headers: x-other\r\n",
            "Origin: https://app.example\r\nAccess-Control-Request-Method: GET\r\n"
                + "Access-Control-Request-Headers: a b\r\n",
        ])
    func refused(_ fields: String) async throws {
        let handler = handler {
            $0.origins = .listed(["https://app.example"])
            $0.requestFields = ["X-Mine"]
        }
        let answer = try await exchange(handler, "OPTIONS", "/", fields)
        #expect(answer.status == 403)
        #expect(!answer.fields.contains { $0.name.hasPrefix("Access-Control-") })
    }

    @Test("OPTIONS without the fields of a preflight goes to the handler")
    func plainOptions() async throws {
        #expect(try await exchange(handler(), "OPTIONS", "/", Self.site).status == 401)
        #expect(try await exchange(handler(), "OPTIONS", "/", Self.asks + "GET\r\n").status == 401)
    }

    @Test("Responses and errors name the allowed origin", arguments: Sample.Speed.allCases)
    func answers(_ speed: Sample.Speed) async throws {
        let handler = handler(speed) {
            $0.origins = .matching { $0.hasSuffix(".example") }
            $0.exposedFields = ["ETag", "X-Total"]
        }
        for (fields, status) in [(Self.login, 200), ("", 401)] {
            let answer = try await exchange(handler, "GET", "/", Self.site + fields)
            #expect(answer.status == status)
            #expect(answer["Access-Control-Allow-Origin"] == "https://app.example")
            #expect(answer["Access-Control-Expose-Headers"] == "ETag, X-Total")
            #expect(answer["Vary"]?.contains("Origin") == true)
        }
        let other = try await exchange(handler, "GET", "/", "Origin: https://evil\r\n" + Self.login)
        #expect(other.status == 200)
        #expect(other["Access-Control-Allow-Origin"] == nil)
        #expect(other["Vary"] == "Accept, Origin")
        let none = try await exchange(handler, "GET", "/", Self.login)
        #expect(none["Access-Control-Allow-Origin"] == nil)
        #expect(none["Vary"] == "Accept, Origin")
    }

    @Test("All origins are a star, unless credentials are allowed")
    func wildcard() async throws {
        let open = try await exchange(handler(), "GET", "/", Self.site + Self.login)
        #expect(open["Access-Control-Allow-Origin"] == "*")
        #expect(open["Access-Control-Allow-Credentials"] == nil)
        #expect(open["Vary"] == "Accept")
        let withLogin = handler {
            $0.origins = .matching { _ in true }
            $0.allowsCredentials = true
        }
        let named = try await exchange(withLogin, "GET", "/", Self.site + Self.login)
        #expect(named["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(named["Access-Control-Allow-Credentials"] == "true")
        #expect(named["Vary"] == "Accept, Origin")
    }

    @Test("CORS and caches: A response for all origins has its fields also without Origin")
    func withoutOrigin() async throws {
        let handler = handler { $0.exposedFields = ["ETag"] }
        for (fields, status) in [(Self.login, 200), ("", 401)] {
            let answer = try await exchange(handler, "GET", "/", fields)
            #expect(answer.status == status)
            #expect(answer["Access-Control-Allow-Origin"] == "*")
            #expect(answer["Access-Control-Expose-Headers"] == "ETag")
            #expect(answer["Access-Control-Allow-Credentials"] == nil)
            #expect(answer["Vary"]?.contains("Origin") != true)
        }
    }

    @Test("All origins with credentials trap as a programmer's mistake")
    func anyWithCredentials() async {
        await #expect(processExitsWith: .failure) {
            var options = CORSHandler.Options()
            options.allowsCredentials = true
            _ = CORSHandler(SyncHandler { _ in Response(.ok) }, options: options)
        }
    }

    @Test("The origin null is allowed by name only", arguments: [true, false])
    func nullOrigin(_ isAllowed: Bool) async throws {
        let handler = handler {
            $0.origins = .matching { _ in true }
            $0.allowsCredentials = true
            $0.allowsNull = isAllowed
        }
        let answer = try await exchange(handler, "GET", "/", "Origin: null\r\n" + Self.login)
        #expect(answer["Access-Control-Allow-Origin"] == (isAllowed ? "null" : nil))
    }

    @Test("304 keeps Cache-Control, Vary, ETag and the allowed origin")
    func notModified() async throws {
        let directory = try ServerDirectory()
        try directory.write("a.txt", "content")
        var options = CORSHandler.Options()
        options.origins = .listed(["https://app.example"])
        var files = FileHandler.Options()
        files.cacheAge = 60
        let handler = CORSHandler(
            CompressionHandler(FileHandler(root: directory.path, options: files)), options: options)
        let first = try await exchange(handler, "GET", "/a.txt", Self.site)
        let tag = try #require(first["ETag"])
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
        let again = try await exchange(
            handler, "GET", "/a.txt", Self.site + "If-None-Match: \(tag)\r\n")
        #expect(again.status == 304)
        #expect(again.content.isEmpty)
        let kept = ["ETag", "Cache-Control", "Access-Control-Allow-Origin"]
        for name in kept { #expect(again[name] == first[name] && again[name] != nil) }
        #expect(again["Vary"]?.contains("Origin") == true)
        let date = try #require(first["Last-Modified"])
        let byDate = try await exchange(
            handler, "GET", "/a.txt", Self.site + "If-Modified-Since: \(date)\r\n")
        #expect(byDate.status == 304)
        #expect(byDate["Cache-Control"] == first["Cache-Control"])
        // An entity tag that does not match takes precedence over a matching date.
        let both = try await exchange(
            handler, "GET", "/a.txt",
            Self.site + "If-Modified-Since: \(date)\r\nIf-None-Match: \"other\"\r\n")
        #expect(both.status == 200)
    }
}
