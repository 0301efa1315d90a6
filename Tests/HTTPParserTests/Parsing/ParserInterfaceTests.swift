import HTTPParser
import TestSupport
import Testing

@Suite("The public interface of the parsers")
struct ParserInterfaceTests {
    private let request = Array("GET /a?b HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n".utf8)

    @Test(
        "RFC 9110, 9.3.6: Content-Length and Transfer-Encoding of a 2xx to CONNECT are ignored",
        arguments: [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: x\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Transfer-Encoding: gzip\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n",
        ], [200, 204, 299])
    func framingOfTunnel(_ fields: String, _ status: Int) throws {
        let bytes = Array("HTTP/1.1 \(status) OK\r\n\(fields)\r\nrest".utf8)
        for split in 1..<bytes.count {
            var parser = ResponseParser()
            parser.expect(.connect)
            var events = ""
            for part in [bytes[..<split], bytes[split...]] {
                parser.append(Array(part).span)
                while let event = try parser.next() {
                    switch event {
                    case .interim: events += "interim "
                    case .head(let head): events += "\(head.framing) \(head.contentLength ?? -1) "
                    case .content: events += "content "
                    case .end: events += "end"
                    }
                }
            }
            #expect(events == "tunnel -1 end" && parser.stopReason == .tunnel)
            #expect(parser.takeRest() == Array("rest".utf8))
        }
    }

    @Test(
        "Both fields are refused in a 403 to CONNECT, and in a response to another method",
        arguments: [true, false])
    func framingOfOthers(_ isConnect: Bool) throws {
        var parser = ResponseParser()
        parser.expect(isConnect ? .connect : .get)
        let status = isConnect ? "403 Forbidden" : "200 OK"
        let fields = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"
        parser.append(Array("HTTP/1.1 \(status)\r\n\(fields)\r\n".utf8).span)
        #expect(throws: HTTPParseError.self) { _ = try parser.next() == nil }
    }

    @Test("An error is final")
    func finalError() {
        var parser = RequestParser()
        parser.append(Array("GET  / HTTP/1.1\r\n".utf8).span)
        let expected = HTTPParseError(.invalidTarget, at: 4)
        for _ in 0..<3 {
            #expect(throws: expected) { if try parser.next() != nil { Issue.record("an event") } }
            parser.append(request.span)
        }
        #expect(throws: expected) { try parser.finish() }
    }

    @Test("An error of a response is final")
    func finalResponseError() {
        var parser = ResponseParser()
        parser.append(Array("HTTP/1.1 20 OK\r\n\r\n".utf8).span)
        let expected = HTTPParseError(.invalidStatusLine, at: 11)
        for _ in 0..<3 {
            #expect(throws: expected) { if try parser.next() != nil { Issue.record("an event") } }
        }
        #expect(throws: expected) { try parser.finish() }
    }

    @Test(
        "An error of a head is final until the head parser is reset",
        arguments: [
            "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/2.0\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: cow\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
            "CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
        ])
    func finalHeadError(head: String) throws {
        let bytes = Array(head.utf8)
        var parser = HeadParser(.request)
        let first = #expect(throws: HTTPParseError.self) { _ = try parser.parse(bytes.span) }
        for _ in 0..<2 {
            let again = #expect(throws: HTTPParseError.self) { _ = try parser.parse(bytes.span) }
            #expect(again == first)
        }
        let other = #expect(throws: HTTPParseError.self) { _ = try parser.parse(request.span) }
        #expect(other == first)
        parser.reset()
        #expect(try parser.parse(request.span) == request.count)
    }

    @Test("The end of input completes content that was not read yet")
    func contentBeforeTheEnd() throws {
        let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        var parser = ResponseParser()
        parser.append(head.span)
        #expect(try parser.next() != nil)
        parser.append(Array("hello".utf8).span)
        try parser.finish()
        var (content, ends) = ([UInt8](), 0)
        while let event = try parser.next() {
            switch event {
            case .content(let bytes): for index in bytes.indices { content.append(bytes[index]) }
            case .end: ends += 1
            default: break
            }
        }
        #expect(content == Array("hello".utf8))
        #expect(ends == 1)
        #expect(parser.takeRest() == [])
    }

    @Test("Truncation is final")
    func finalTruncation() {
        var parser = RequestParser()
        parser.append(Array("GET".utf8).span)
        let expected = HTTPParseError(.truncated, at: 3)
        #expect(throws: expected) { try parser.finish() }
        #expect(throws: expected) { if try parser.next() != nil { Issue.record("an event") } }
    }

    @Test("Empty input gives no events and no error")
    func nothing() throws {
        var parser = RequestParser()
        #expect(try parser.next() == nil)
        parser.append([UInt8]().span)
        #expect(try parser.next() == nil)
        try parser.finish()
        #expect(parser.stopReason == nil)
        #expect(parser.takeRest() == [])
    }

    @Test("A parser continues with HTTP after a declined upgrade")
    func resume() throws {
        let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
        var parser = RequestParser()
        parser.append((Array(offer.utf8) + request).span)
        var targets: [String] = []
        for _ in 0..<2 {
            while let event = try parser.next() {
                if case .head(let head) = event { targets.append(head.target.text) }
            }
            #expect(parser.stopReason == (targets.count == 1 ? .upgrade : nil))
            parser.resume()
        }
        #expect(targets == ["/", "/a?b"])
    }

    @Test("A declined upgrade does not keep a connection open that is to close (RFC 9112, 9.6)")
    func resumeBeforeClose() throws {
        let offer = "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: x\r\n\r\n"
        var parser = RequestParser()
        parser.append((Array(offer.utf8) + request).span)
        while try parser.next() != nil {}
        #expect(parser.stopReason == .upgrade)
        parser.resume()
        #expect(parser.stopReason == .close)
        #expect(try parser.next() == nil)
        #expect(parser.takeRest() == request)
    }

    @Test("Resuming a parser before it has stopped has no effect")
    func resumeBeforeStop() throws {
        let offer =
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: x\r\n"
            + "Content-Length: 5\r\n\r\nhello"
        var parser = RequestParser()
        parser.append(Array(offer.utf8).span)
        var content = 0
        var isComplete = false
        while let event = try parser.next() {
            switch event {
            case .head: break
            case .content(let bytes): content += bytes.count
            case .end: isComplete = true
            }
            if !isComplete { parser.resume() }
        }
        #expect(content == 5 && isComplete)
        #expect(parser.stopReason == .upgrade)
    }

    @Test("The remaining bytes after a stop are returned once, including later ones")
    func rest() throws {
        var parser = RequestParser()
        parser.append(Array("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\none".utf8).span)
        while try parser.next() != nil {}
        parser.append(Array(" two".utf8).span)
        #expect(try parser.next() == nil)
        #expect(parser.stopReason == .tunnel)
        #expect(parser.takeRest() == Array("one two".utf8))
        #expect(parser.takeRest() == [])
        try parser.finish()
    }

    @Test("A thousand pipelined requests are parsed in order")
    func pipeline() throws {
        var parser = RequestParser()
        for number in 0..<1_000 {
            parser.append(Array("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n".utf8).span)
        }
        var next = 0
        while let event = try parser.next() {
            guard case .head(let head) = event else { continue }
            #expect(head.target.path == "/\(next)")
            next += 1
        }
        #expect(next == 1_000)
    }

    @Test("Offsets count from the first byte of all requests")
    func offsets() {
        let many = Array(repeating: request, count: 50).flatMap { $0 }
        let events = WireSetup().events(many + Array("GET\0".utf8))
        #expect(events.last == .failure(HTTPParseError(.invalidMethod, at: many.count + 3)))
    }

    @Test("The head parser reads a request head without a copy")
    func headParser() throws {
        var parser = HeadParser(.request)
        #expect(try parser.parse(request.span) == request.count)
        #expect(parser.version == .http11)
        #expect(parser.requestFraming == .none)
        #expect(Array(request[parser.targetRange]) == Array("/a?b".utf8))
        #expect(parser.fieldCount == 2)
        let slot = parser.slot(1)
        #expect(slot.nameStart == 28 && slot.nameEnd == 29)
        #expect(slot.valueStart == 31 && slot.valueEnd == 32)
        let bytes = request.span
        let fields = parser.fields(in: bytes)
        #expect(fields[.host] == "a")
        #expect(fields.count == 2)
        let head = RequestHead(parser, copying: bytes, length: request.count)
        #expect(head.target.text == "/a?b")
        #expect(head.method == .get)
    }

    @Test("The head parser reads a response head")
    func responseHeadParser() throws {
        let response = Array("HTTP/1.0 404 Not Here\r\nA: b\r\n\r\n".utf8)
        var parser = HeadParser(.response)
        #expect(try parser.parse(response.span) == response.count)
        #expect(parser.status == .notFound)
        #expect(parser.version == .http10)
        #expect(Array(response[parser.reasonRange]) == Array("Not Here".utf8))
    }

    @Test("Fields of a head are found in any case, in the order of the message")
    func fieldSection() throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nx-A: 1\r\nX-a: \u{E9}\r\nB: \r\n\r\n"
        var parser = RequestParser()
        parser.append(Array(text.utf8).span)
        guard case .head(let head) = try parser.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.fields["X-A"] == "1")
        #expect(head.fields["b"] == "")
        #expect(head.fields["c"] == nil)
        #expect(head.fields.contains("HOST") && !head.fields.contains("HOS"))
        #expect(head.fields.values(of: "X-A") == ["1", "\u{E9}"])
        #expect(head.fields.values(of: "C") == [])
        #expect(head.fields[1] == HTTPField("X-a", "1"))
        #expect(head.fields[1].name.text == "x-A")
        #expect(head.fields.isEmpty == false)
        let copy = HTTPFields(head.fields)
        #expect(copy.map(\.name.text) == ["Host", "x-A", "X-a", "B"])
    }

    @Test("Values that are not UTF-8 are read as Latin-1, byte by byte")
    func latin1() throws {
        let bytes =
            Array("GET / HTTP/1.1\r\nHost: a\r\nA: ".utf8) + [0xE9, 0xFF] + [13, 10, 13, 10]
        var parser = RequestParser()
        parser.append(bytes.span)
        guard case .head(let head) = try parser.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.fields["A"] == "\u{E9}\u{FF}")
    }

    @Test("The Content-Length is available separately from the framing")
    func contentLength() throws {
        for (value, length) in [("0", 0), ("12", 12), (nil, nil)] as [(String?, Int64?)] {
            let field = value.map { "Content-Length: \($0)\r\n" } ?? ""
            var parser = RequestParser()
            parser.append(Array("PUT / HTTP/1.1\r\nHost: a\r\n\(field)\r\n".utf8).span)
            guard case .head(let head) = try parser.next() else {
                Issue.record("no head")
                return
            }
            #expect(head.contentLength == length)
        }
    }
}
