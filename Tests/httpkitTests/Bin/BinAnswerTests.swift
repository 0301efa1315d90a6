import HTTPParser
import TestSupport
import Testing

@testable import httpkit

@Suite("httpbin: statuses, redirects and cookies")
struct BinAnswerTests {
    @Test(
        "Every response is sandboxed, and pages of all origins may read it",
        arguments: [
            "/response-headers?Content-Type=text/html&x=%3Cscript%3E&X-Content-Type-Options=x",
            "/html", "/", "/forms/post", "/status/404", "/nothing", "/bytes/5", "/post",
        ], ["GET", "HEAD", "OPTIONS"])
    func commonFields(_ target: String, _ method: String) async throws {
        let answer = try await Bin.answer(
            method, target, "Origin: https://app.example", "Access-Control-Request-Headers: X-A")
        let policies = answer.fields.filter { $0.name == "Content-Security-Policy" }.map(\.value)
        #expect(policies.contains("sandbox allow-forms"))
        #expect(
            answer.fields.filter { $0.name == "X-Content-Type-Options" }.map(\.value) == ["nosniff"]
        )
        #expect(answer["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(answer["Access-Control-Allow-Credentials"] == "true")
        let isPreflight = method == "OPTIONS"
        #expect(
            answer["Access-Control-Allow-Methods"]
                == (isPreflight ? "GET, POST, PUT, DELETE, PATCH, OPTIONS" : nil))
        #expect(answer["Access-Control-Max-Age"] == (isPreflight ? "3600" : nil))
        #expect(answer["Access-Control-Allow-Headers"] == (isPreflight ? "X-A" : nil))
    }

    @Test("Without Origin, every origin may read the response")
    func noOrigin() async throws {
        #expect(try await Bin.answer("GET", "/get")["Access-Control-Allow-Origin"] == "*")
    }

    @Test("Any status can be requested by any method", arguments: [200, 204, 304, 404, 500, 999])
    func status(code: Int) async throws {
        for method in ["GET", "POST", "DELETE", "HEAD"] {
            #expect(try await Bin.answer(method, "/status/\(code)").status == code)
        }
    }

    @Test("Statuses have matching header fields and content")
    func belongings() async throws {
        for code in [301, 302, 303, 305, 307, 308] {
            #expect(try await Bin.answer("GET", "/status/\(code)")["Location"] == "/redirect/1")
        }
        #expect(
            try await Bin.answer("GET", "/status/401")["WWW-Authenticate"]
                == "Basic realm=\"Fake Realm\"")
        #expect(try await Bin.answer("GET", "/status/407")["Proxy-Authenticate"] != nil)
        #expect(try await Bin.answer("GET", "/status/406").text.contains("image/webp"))
        #expect(try await Bin.answer("GET", "/status/418").text.contains("teapot") == false)
    }

    @Test("A status is chosen from a list by weight")
    func weights() async throws {
        #expect(try await Bin.answer("GET", "/status/200:0,404:1").status == 404)
        #expect(try await Bin.answer("GET", "/status/200:1,404:0").status == 200)
        var seen: Set<UInt16> = []
        for _ in 0..<200 { seen.insert(try BinRouter.choice(of: "200,404:1.5").code) }
        #expect(seen == [200, 404])
    }

    @Test(
        "An invalid or interim status is refused",
        arguments: ["abc", "100", "199", "1000", "200:x", "200:-1", ",", "-200"])
    func refusedStatus(codes: String) async throws {
        #expect(try await Bin.answer("GET", "/status/\(codes)").status == 400)
    }

    @Test("Fields that the query names are sent on separate lines, and are in the JSON")
    func responseFields() async throws {
        for method in ["GET", "POST"] {
            let answer = try await Bin.answer(method, "/response-headers?X-A=1&X-A=2&Server=me")
            #expect(answer.fields.filter { $0.name == "X-A" }.map(\.value) == ["1", "2"])
            let json = try #require(JSONValue(parsing: answer.content))
            #expect(json["X-A"] == .list(["1", "2"]) && json["Server"] == "me")
            #expect(json["Content-Length"] == .text(String(answer.content.count)))
        }
        for query in ["Content-Length=5", "a%20b=1", "a=%0D%0Ab", "Transfer-Encoding=chunked"] {
            #expect(try await Bin.answer("GET", "/response-headers?\(query)").status == 400)
        }
    }

    @Test("Chains of redirects end at /get")
    func redirects() async throws {
        func location(_ target: String) async throws -> String? {
            let answer = try await Bin.answer("GET", target)
            #expect(answer.status == 302)
            return answer["Location"]
        }
        #expect(try await location("/redirect/2") == "/relative-redirect/1")
        #expect(try await location("/redirect/1") == "/get")
        #expect(
            try await location("/redirect/2?absolute=true") == "http://bin.test/absolute-redirect/1"
        )
        #expect(try await location("/relative-redirect/18") == "/relative-redirect/17")
        #expect(try await location("/absolute-redirect/1") == "http://bin.test/get")
        #expect(try await Bin.answer("GET", "/redirect/0").status == 400)
        #expect(try await Bin.answer("GET", "/redirect/1001").status == 400)
        #expect(try await Bin.answer("GET", "/redirect/x").status == 404)
    }

    @Test(
        "/redirect-to redirects to any URL with any redirect status",
        arguments: [300, 301, 303, 304, 307, 308])
    func redirectTo(code: Int) async throws {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let answer = try await Bin.answer(
                method, "/redirect-to?url=http://a.test/%3Fx%3D1&status_code=\(code)")
            #expect(answer.status == code && answer.content.isEmpty)
            #expect(answer["Location"] == "http://a.test/?x=1")
        }
        #expect(try await Bin.answer("GET", "/redirect-to?url=/a&status_code=200").status == 302)
        #expect(try await Bin.answer("GET", "/redirect-to?url=%0d%0aA:b").status == 400)
        #expect(try await Bin.answer("GET", "/redirect-to").status == 400)
    }

    @Test("Cookies are set, shown and deleted")
    func cookies() async throws {
        #expect(
            try await Bin.json("GET", "/cookies", "Cookie: a=1; b=\"2\"; c=x=y")["cookies"]
                == .object(["a": "1", "b": "2", "c": "x=y"]))
        let set = try await Bin.answer("GET", "/cookies/set?a=1&b=2")
        #expect(set.status == 302 && set["Location"] == "/cookies")
        #expect(
            set.fields.filter { $0.name == "Set-Cookie" }.map(\.value) == [
                "a=1; Path=/", "b=2; Path=/",
            ])
        #expect(
            try await Bin.answer("GET", "/cookies/set/a/b%20c")["Set-Cookie"]
                == "a=\"b%20c\"; Path=/")
        let deleted = try await Bin.answer("GET", "/cookies/delete?a")
        #expect(deleted["Set-Cookie"]?.contains("Max-Age=0") == true)
        #expect(try await Bin.answer("GET", "/cookies/set?a%3Bb=1").status == 400)
    }

    @Test("Basic and Bearer log in, and Digest sends a challenge")
    func logins() async throws {
        let good = "Authorization: Basic YWRhOngx"
        #expect(
            try await Bin.json("GET", "/basic-auth/ada/x1", good)["authenticated"] == .flag(true))
        #expect(try await Bin.answer("GET", "/basic-auth/ada/x2", good).status == 401)
        #expect(try await Bin.answer("GET", "/hidden-basic-auth/ada/x2", good).status == 404)
        #expect(try await Bin.answer("GET", "/hidden-basic-auth/ada/x1", good).status == 200)
        #expect(
            try await Bin.json("GET", "/bearer", "Authorization: Bearer abc")["token"] == "abc")
        #expect(try await Bin.answer("GET", "/bearer")["WWW-Authenticate"] == "Bearer")
        // The logins with Digest are tested with curl, in BinCurlTests.
        let challenge = try await Bin.answer("GET", "/digest-auth/auth/ada/x1/SHA-256")
        #expect(challenge.status == 401)
        #expect(challenge["WWW-Authenticate"]?.contains("algorithm=SHA-256") == true)
        #expect(try await Bin.answer("GET", "/digest-auth/auth/ada/x1/ROT13").status == 404)
    }
}
