import HTTPCodecs
import HTTPParser
import HTTPServerCore
import TestSupport
import Testing

@testable import httpkit

@Suite("httpbin: content")
struct BinContentTests {
    @Test("/bytes sends the requested number of bytes, the same ones for the same seed")
    func bytes() async throws {
        let one = try await Bin.answer("GET", "/bytes/1000?seed=7")
        let other = try await Bin.answer("GET", "/bytes/1000?seed=7")
        let random = try await Bin.answer("GET", "/bytes/1000")
        #expect(one.content.count == 1000 && one.content == other.content)
        #expect(random.content.count == 1000 && random.content != one.content)
        #expect(one["Content-Type"] == "application/octet-stream")
        let long = try await Bin.answer("GET", "/bytes/2000000?seed=1")
        #expect(long["Content-Length"] == "2000000" && long.content.count == 2_000_000)
        #expect(try await Bin.answer("GET", "/bytes/-1").status == 404)
    }

    @Test("Streams are chunked")
    func streams() async throws {
        let stream = try await Bin.answer("GET", "/stream-bytes/1000?chunk_size=64&seed=1")
        #expect(stream["Transfer-Encoding"] == "chunked" && stream.content.count == 1000)
        let same = try await Bin.answer("GET", "/bytes/1000?seed=1")
        #expect(same.content == stream.content)
        let lines = try await Bin.answer("GET", "/stream/3?a=b").text.split(separator: "\n")
        #expect(lines.count == 3)
        for (id, line) in lines.enumerated() {
            let json = try #require(JSONValue(parsing: Array(line.utf8)))
            #expect(json["id"] == .integer(id) && json["args"] == .object(["a": "b"]))
        }
    }

    @Test("/range sends ranges of the alphabet (RFC 9110 section 14)")
    func ranges() async throws {
        let whole = try await Bin.answer("GET", "/range/30")
        #expect(whole.text == "abcdefghijklmnopqrstuvwxyzabcd" && whole["ETag"] == "\"range30\"")
        #expect(whole["Accept-Ranges"] == "bytes")
        let part = try await Bin.answer("GET", "/range/30", "Range: bytes=24-27")
        #expect(part.status == 206 && part.text == "yzab")
        #expect(part["Content-Range"] == "bytes 24-27/30")
        #expect(try await Bin.answer("GET", "/range/30", "Range: bytes=30-").status == 416)
        let old = try await Bin.answer(
            "GET", "/range/30", "Range: bytes=1-2", "If-Range: \"range31\"")
        #expect(old.status == 200)
        let slow = try await Bin.answer(
            "GET", "/range/30?duration=0.01&chunk_size=4", "Range: bytes=1-9")
        #expect(slow.status == 206 && slow.text == "bcdefghij" && slow["Content-Length"] == "9")
        #expect(try await Bin.answer("GET", "/range/0").status == 404)
    }

    @Test(
        "Content is generated while the client reads it",
        arguments: ["/range/16777216", "/drip?numbytes=10485760&duration=0", "/bytes/16777216"])
    func madeWhileRead(_ target: String) async throws {
        let client = MemoryConnection(Bin.router, peer: MemoryTransport.Peer(credit: 0))
        client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        await client.settle()
        let waiting = await client.onLoop { $0?.waitingBytes ?? 0 }
        #expect(waiting > 0 && waiting < 256 << 10)
        client.hangUp()
        try await client.closed()
    }

    @Test("/drip and /delay send their content, and a client that disconnects ends a delay")
    func delays() async throws {
        let drops = try await Bin.answer("GET", "/drip?numbytes=4&duration=0.02&code=202")
        #expect(drops.status == 202 && drops.text == "****" && drops["Content-Length"] == "4")
        #expect(try await Bin.answer("GET", "/drip?duration=x").status == 400)
        let late = try await Bin.json("POST", "/delay/0.01", content: "x")
        #expect(late["data"] == "x")
        #expect(try await Bin.answer("GET", "/delay/-1").status == 400)
        let request = "GET /delay/9999 HTTP/1.1\r\nHost: a\r\n\r\n"
        let client = MemoryConnection(Bin.router)
        client.send(request)
        await client.settle()
        #expect(client.record.output.isEmpty)
        // A client that disconnects ends the wait.
        client.hangUp()
        try await client.closed()
    }

    @Test("/gzip, /deflate, /brotli and /zstd send encoded content")
    func codings() async throws {
        let gzip = try await Bin.answer("GET", "/gzip")
        #expect(gzip["Content-Encoding"] == "gzip")
        let json = JSONValue(parsing: try gzip.content.gunzipped(outputLimit: 10_000))
        #expect(json?["gzipped"] == .flag(true))
        let deflate = try await Bin.answer("GET", "/deflate")
        let limits = ContentDecodingLimits(outputBytes: 10_000)
        let plain = try ContentCoding.deflate.decode(deflate.content.span, limits: limits)
        #expect(JSONValue(parsing: plain)?["deflated"] == .flag(true))
        #expect(try await Bin.answer("GET", "/brotli")["Content-Encoding"] == "br")
        #expect(try await Bin.answer("GET", "/zstd")["Content-Encoding"] == "zstd")
    }

    @Test("/base64 decodes both alphabets, with padding or without")
    func base64() async throws {
        #expect(try await Bin.answer("GET", "/base64/SGVsbG8=").text == "Hello")
        #expect(try await Bin.answer("GET", "/base64/SGVsbG8").text == "Hello")
        #expect(try await Bin.answer("GET", "/base64/8J-Ygg").text == "😂")
        #expect(try await Bin.answer("GET", "/base64/_w").content == [0xFF])
        #expect(try await Bin.answer("GET", "/base64/a%21").status == 400)
    }

    @Test("Images have the signatures of their formats")
    func images() async throws {
        let signatures: [(String, [UInt8])] = [
            ("png", [0x89, 0x50, 0x4E, 0x47]), ("jpeg", [0xFF, 0xD8, 0xFF]),
            ("webp", Array("RIFF".utf8)), ("svg", Array("<svg ".utf8)),
        ]
        for (format, signature) in signatures {
            let image = try await Bin.answer("GET", "/image/\(format)")
            #expect(
                image["Content-Type"] == (format == "svg" ? "image/svg+xml" : "image/\(format)"))
            #expect(image.content.starts(with: signature))
        }
        #expect(try await Bin.answer("GET", "/image/gzip").status == 404)
        #expect(try await Bin.answer("GET", "/image")["Content-Type"] == "image/png")
        let chosen = try await Bin.answer("GET", "/image", "Accept: text/html, image/jpeg")
        #expect(chosen["Content-Type"] == "image/jpeg")
        #expect(try await Bin.answer("GET", "/image", "Accept: text/html").status == 406)
    }

    @Test("Responses have fields for caches, and conditions are evaluated")
    func caching() async throws {
        let fresh = try await Bin.answer("GET", "/cache/60")
        #expect(fresh["Cache-Control"] == "public, max-age=60" && fresh["Date"] != nil)
        let first = try await Bin.answer("GET", "/cache")
        #expect(first.status == 200 && first["ETag"] != nil && first["Last-Modified"] != nil)
        #expect(try await Bin.answer("GET", "/cache", "If-None-Match: \"x\"").status == 304)
        let tagged = try await Bin.answer("GET", "/etag/abc")
        #expect(tagged["ETag"] == "\"abc\"")
        #expect(try await Bin.answer("GET", "/etag/abc", "If-None-Match: \"abc\"").status == 304)
        #expect(try await Bin.answer("GET", "/etag/abc", "If-None-Match: \"b\"").status == 200)
        #expect(try await Bin.answer("GET", "/etag/abc", "If-Match: \"b\"").status == 412)
    }

    @Test("Trailers and an interim response are sent, and /ws requires an upgrade")
    func messageParts() async throws {
        let client = MemoryConnection(Bin.router)
        client.send("GET /trailers?X-Sum=42 HTTP/1.1\r\nHost: a\r\n\r\n")
        client.end()
        let text = try await client.closed().text
        #expect(text.contains("\r\nTrailer: X-Sum\r\n") && text.hasSuffix("0\r\nX-Sum: 42\r\n\r\n"))
        let hints = MemoryConnection(Bin.router)
        hints.send("GET /early-hints HTTP/1.1\r\nHost: a\r\n\r\n")
        hints.end()
        let answer = try await hints.closed().text
        #expect(answer.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </image/svg>"))
        #expect(answer.contains("\r\n\r\nHTTP/1.1 200 OK\r\n"))
        let socket = try await Bin.answer("GET", "/ws")
        #expect(socket.status == 426 && socket["Upgrade"] == "websocket")
    }

    @Test("The index names every endpoint, and its links work")
    func index() async throws {
        let page = try await Bin.answer("GET", "/")
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        let links = page.text.matches(of: /href="([^"]*)"/).map { String($0.output.1) }
        #expect(links.count > 40)
        for link in links where !["/delay", "/drip"].contains(where: { link.hasPrefix($0) }) {
            let target = link.replacing("&amp;", with: "&")
            let answer = try await Bin.answer("GET", target)
            let isMeant = [401, 404, 418, 426].contains(answer.status)
            #expect(answer.status < 400 || isMeant, "\(target): \(answer.status)")
        }
        for group in Bin.router.groups {
            for entry in group.entries { #expect(page.text.contains(">\(entry.path)<")) }
        }
    }

    @Test(
        "Documents have their media types",
        arguments: [
            ("/html", "text/html; charset=utf-8"), ("/json", "application/json"),
            ("/xml", "application/xml"), ("/robots.txt", "text/plain; charset=utf-8"),
            ("/deny", "text/plain; charset=utf-8"), ("/forms/post", "text/html; charset=utf-8"),
            ("/encoding/utf8", "text/html; charset=utf-8"),
            ("/links/3/1", "text/html; charset=utf-8"),
        ])
    func documents(path: String, mediaType: String) async throws {
        let answer = try await Bin.answer("GET", path)
        #expect(answer.status == 200 && answer["Content-Type"] == mediaType)
        #expect(!answer.content.isEmpty)
    }
}
