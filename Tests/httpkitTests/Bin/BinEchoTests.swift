import HTTPServerCore
import TestSupport
import Testing

@testable import httpkit

@Suite("httpbin: echoes of the request")
struct BinEchoTests {
    @Test("/get sends back query, fields, origin and URL")
    func get() async throws {
        let json = try await Bin.json(
            "GET", "/get?a=1&b=2&a=3&c=%20x", "x-FOO-bar: 1", "X-Foo-Bar: 2")
        #expect(
            json
                == .object([
                    "args": .object(["a": .list(["1", "3"]), "b": "2", "c": " x"]),
                    "headers": .object(["Host": "bin.test", "X-Foo-Bar": "1,2"]),
                    "origin": "unix", "url": "http://bin.test/get?a=1&b=2&a=3&c=%20x",
                ]))
    }

    @Test("Each method has its own path", arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func writing(method: String) async throws {
        let json = try await Bin.json(method, "/\(method.lowercased())", content: "plain text")
        #expect(json["data"] == "plain text" && json["json"] == .null)
        #expect(json["form"] == .object([:]) && json["files"] == .object([:]))
        let wrong = try await Bin.answer("GET", "/\(method.lowercased())")
        #expect(wrong.status == 405)
    }

    @Test("Content that is not text becomes a data URL")
    func binary() async throws {
        let client = MemoryConnection(Bin.router)
        client.send("POST /post HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\n")
        client.feed([.bytes(Array("Content-Length: 2\r\n\r\n".utf8) + [0xFF, 0x00]), .end])
        let answer = try #require(ServerAnswer.all(try await client.closed().output).first)
        let json = try #require(JSONValue(parsing: answer.content))
        #expect(json["data"] == "data:image/png;base64,/wA=")
        #expect(try await Bin.json("PUT", "/put", content: "\u{0}ok")["data"] == "\u{0}ok")
    }

    @Test("JSON is also sent back as a value, and needs no media type")
    func values() async throws {
        let json = try await Bin.json(
            "POST", "/post", content: #"{"a": [1, 2.5, null, true, "é"], "b": {}}"#)
        #expect(
            json["json"]
                == .object([
                    "a": .list([.integer(1), .real(2.5), .null, .flag(true), "é"]),
                    "b": .object([:]),
                ]))
    }

    @Test("Forms are parsed into fields and files")
    func forms() async throws {
        let plain = try await Bin.json(
            "POST", "/post", "Content-Type: application/x-www-form-urlencoded",
            content: "a=1&a=2&b=x+y")
        #expect(plain["form"] == .object(["a": .list(["1", "2"]), "b": "x y"]))
        #expect(plain["data"] == "")
        let parts = """
            --x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n\
            --x\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\n\r\ntext\r\n\
            --x--\r\n
            """
        let multipart = try await Bin.json(
            "POST", "/post", "Content-Type: multipart/form-data; boundary=x", content: parts)
        #expect(multipart["form"] == .object(["a": "1"]))
        #expect(multipart["files"] == .object(["f": "text"]))
    }

    @Test("/anything accepts any method and any path below")
    func anything() async throws {
        let json = try await Bin.json("PURGE", "/anything/a/b?c=d", content: "x")
        #expect(json["method"] == "PURGE" && json["url"] == "http://bin.test/anything/a/b?c=d")
        #expect(json["args"] == .object(["c": "d"]) && json["data"] == "x")
        #expect(try await Bin.json("GET", "/anything")["method"] == "GET")
    }

    @Test("Forwarded fields of a proxy set the origin and the scheme of the URL")
    func proxies() async throws {
        let json = try await Bin.json(
            "GET", "/get", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https")
        #expect(json["origin"] == "192.0.2.1" && json["url"] == "https://bin.test/get")
    }

    @Test("/ip, /user-agent, /headers and /uuid send single values")
    func facts() async throws {
        #expect(try await Bin.json("GET", "/ip") == .object(["origin": "unix"]))
        #expect(
            try await Bin.json("GET", "/user-agent", "User-Agent: me/1")
                == .object(["user-agent": "me/1"]))
        #expect(
            try await Bin.json("GET", "/headers", "A: b")
                == .object(["headers": .object(["A": "b", "Host": "bin.test"])]))
        guard case .text(let uuid) = try await Bin.json("GET", "/uuid")["uuid"] else {
            Issue.record("no text")
            return
        }
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        #expect(uuid.wholeMatch(of: form) != nil)
    }

    @Test(
        "Names with many combining marks do not take quadratic time",
        arguments: ["application/x-www-form-urlencoded", "application/json"])
    func marks(_ mediaType: String) async throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 100_000)
        let content = mediaType.hasSuffix("json") ? "{\"\(marks)\": 1}" : "\(marks)=1&\(marks)=2"
        let isQuick = try await takesLess(than: .seconds(10)) {
            let answer = try await Bin.answer(
                "POST", "/post", "Content-Type: \(mediaType)", content: content)
            #expect(answer.status == 200)
        }
        #expect(isQuick, "it takes half a minute if names are hashed as text")
    }

    @Test("Cookies are parsed byte by byte")
    func cookieMarks() async throws {
        let marks = String(repeating: "\u{301}", count: 3)
        let json = try await Bin.json("GET", "/cookies", "Cookie: a=;\(marks)=\(marks); b = \"x\"")
        #expect(json["cookies"] == .object(["a": "", JSONName(marks): .text(marks), "b": "x"]))
    }

    @Test("Names are sorted, and characters outside ASCII are escaped")
    func text() {
        let json = JSONValue.object(["b": .list([.integer(1), "é"]), "a": .object([:])])
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == "{\n  \"a\": {},\n  \"b\": [\n    1,\n    \"\\u00e9\"\n  ]\n}\n")
        #expect(
            String(decoding: json.line, as: UTF8.self) == "{\"a\": {}, \"b\": [1, \"\\u00e9\"]}\n")
    }
}
