import HTTPParser
import TestSupport
import Testing

@Suite("RFC 9112, 2 to 5: The parser agrees with a simple reference parser")
struct HeadReferenceTests {
    private func request(_ fields: String) -> [UInt8] {
        Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    }

    private func letters(_ count: Int) -> String { String(repeating: "n", count: count) }

    @Test(
        "Both parsers agree on values of 0 to 300 bytes after names of several lengths",
        arguments: [1, 4, 7, 8, 10, 15, 16, 17, 31, 32, 33, 48, 64])
    func valueLengths(nameLength: Int) {
        let name = letters(nameLength)
        let inputs = (0...300).lazy.map { length in
            request("\(name): \(letters(length))\r\nX:\(letters(length))\r\n")
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test(
        "Both parsers agree on names of 0 to 300 bytes", arguments: ["", "v", "0123456789abcdef"])
    func nameLengths(value: String) {
        let inputs = (0...300).lazy.map { length in
            request("A: b\r\n\(letters(length)): \(value)\r\nC: d\r\n")
        }
        #expect(HeadComparison.differences(inputs, .request) == [])
    }

    @Test(
        "Both parsers agree on names of 0 to 40 bytes in the last line",
        arguments: ["v", "0123456789"])
    func lastNameLengths(value: String) {
        let inputs = (0...40).lazy.flatMap { length in
            (0...70).lazy.map { padding in
                request("C: d\(letters(padding))\r\n\(letters(length)): \(value)\r\n")
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test(
        "Both parsers agree on names of 0 to 70 bytes in trailers",
        arguments: ["v", "0123456789abcdef"])
    func trailerNameLengths(value: String) {
        let inputs = (0...70).lazy.flatMap { length in
            (0...70).lazy.map { padding in
                Array("\(letters(length)): \(value)\r\nC: d\(letters(padding))\r\n\r\n".utf8)
            }
        }
        #expect(HeadComparison.differences(inputs, .trailers, bytewise: false) == [])
    }

    @Test(
        "Both parsers agree on names with an invalid byte at every place",
        arguments: [" ", "(", "@", "\u{E9}", "\r", "\r\n", "\0"])
    func spoiltNames(spoiler: String) {
        let inputs = (1...70).lazy.flatMap { length in
            (0..<length).lazy.map { place in
                request("\(letters(place))\(spoiler)\(letters(length - place - 1)): v\r\n")
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test(
        "Both parsers agree on names with up to 40 invalid bytes before the colon",
        arguments: ["(", " ", "\r\n"])
    func namesBeforeOtherBytes(spoiler: String) {
        let inputs = (1...70).lazy.flatMap { length in
            (1...40).lazy.map { count in
                request("\(letters(length))\(String(repeating: spoiler, count: count)): v\r\n")
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test("Both parsers agree on targets of 1 to 300 bytes")
    func targetLengths() {
        let inputs = (0..<300).lazy.map { length in
            Array("GET /\(letters(length)) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        }
        #expect(HeadComparison.differences(inputs, .request) == [])
    }

    static let heads = [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a/long/path/of/more/than/sixteen/bytes?and=a&query=too HTTP/1.1\r\n"
            + "Host: www.example.org:8080\r\nAccept: text/html,application/xhtml+xml;q=0.9\r\n"
            + "Connection: keep-alive\r\nAn-Extraordinarily-Long-Field-Name-For-A-Test: 1\r\n"
            + "Content-Length: 12\r\nX: a\tb\r\nY:\r\nZ: \r\n\r\n",
        "PROPFIND http://a.example/x HTTP/1.0\r\n\r\n",
        "CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n",
    ]

    @Test(
        "Both parsers agree on a short head with each byte replaced by any byte",
        arguments: [0, 2, 3])
    func replacedByAny(head: Int) {
        let bytes = Array(Self.heads[head].utf8)
        let inputs = bytes.indices.lazy.flatMap { place in
            (UInt8.min...UInt8.max).lazy.map { byte in
                Array(bytes[..<place] + [byte] + bytes[(place + 1)...])
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test("Both parsers agree on heads with each byte replaced by a stop byte", arguments: heads)
    func replaced(head: String) {
        let bytes = Array(head.utf8)
        let inputs = bytes.indices.lazy.flatMap { place in
            HeadGenerator.stops.lazy.map { byte in
                Array(bytes[..<place] + [byte] + bytes[(place + 1)...])
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test("Both parsers agree on heads with a stop byte inserted at each place", arguments: heads)
    func inserted(head: String) {
        let bytes = Array(head.utf8)
        let inputs = bytes.indices.lazy.flatMap { place in
            HeadGenerator.stops.lazy.map { byte in
                Array(bytes[..<place] + [byte] + bytes[place...])
            }
        }
        #expect(HeadComparison.differences(inputs, .request, bytewise: false) == [])
    }

    @Test("Both parsers agree on all beginnings of heads with up to 70 bytes of padding")
    func totalLengths() {
        let heads = (0...70).lazy.flatMap { padding in
            [
                "GET / HTTP/1.1\r\nHost: a\r\nX: \(letters(padding))\r\n\r\n",
                "GET /\(letters(padding)) HTTP/1.1\r\nHost:a\r\n\r\n",
            ].lazy.map { Array($0.utf8) }
        }
        let parts = heads.lazy.flatMap { head in
            head.indices.lazy.map { Array(head[...$0]) }
        }
        #expect(HeadComparison.differences(parts, .request, bytewise: false) == [])
    }

    @Test("A reused parser does not use bytes of the previous head")
    func reuse() throws {
        let first = Array("GET /aaaa HTTP/1.1\r\nHost: a\r\nX-Y: zzzzzzzzzzzzzzzzzz\r\n\r\n".utf8)
        for end in first.indices {
            var used = HeadParser(.request)
            #expect(try used.parse(first.span) == first.count)
            used.reset()
            // Only the beginning, so that stale bytes after it could be mistaken for the rest.
            #expect(try used.parse(first.span.extracting(first: end)) == nil)
            let second = first[..<end] + Array("b HTTP/1.0\r\nHost: b\r\n\r\n".utf8)
            let bytes = Array(second)
            #expect(outcome(&used, bytes) == HeadComparison.parsed(bytes, .request))
        }
    }

    private func outcome(_ parser: inout HeadParser, _ bytes: [UInt8]) -> PlainHead.Outcome {
        do throws(HTTPParseError) {
            guard let length = try parser.parse(bytes.span) else { return .incomplete }
            return .head(HeadComparison.head(of: parser, .request, length: length))
        } catch {
            return .failure(error)
        }
    }

    @Test("Both parsers agree on generated heads of requests", arguments: 0..<8)
    func generatedRequests(seed: Int) {
        var generator = HeadGenerator(seed: UInt64(seed))
        let inputs = (0..<250).map { _ in generator.nextRequest() }
        #expect(HeadComparison.differences(inputs, .request) == [])
    }

    @Test("Both parsers agree on generated heads of responses", arguments: 0..<4)
    func generatedResponses(seed: Int) {
        var generator = HeadGenerator(seed: UInt64(1_000 + seed))
        let inputs = (0..<250).map { _ in generator.nextResponse() }
        #expect(HeadComparison.differences(inputs, .response) == [])
    }

    @Test("Both parsers agree on generated trailer sections", arguments: 0..<2)
    func generatedTrailers(seed: Int) {
        var generator = HeadGenerator(seed: UInt64(2_000 + seed))
        let heads = (0..<250).map { _ in generator.nextRequest() }
        let inputs = heads.map { Array($0.drop { $0 != 0x0A }.dropFirst()) }
        #expect(HeadComparison.differences(inputs, .trailers) == [])
    }

    @Test(
        "Both parsers agree on generated heads with small limits and any leniency",
        arguments: 0..<4)
    func generatedLimits(seed: Int) {
        var generator = HeadGenerator(seed: UInt64(3_000 + seed))
        var differences: [String] = []
        for _ in 0..<250 {
            let bytes = generator.nextRequest()
            let leniency = ParserLeniency(rawValue: UInt8(generator.number(below: 16)))
            let difference = HeadComparison.difference(
                bytes, .request, limits: limits(&generator), leniency: leniency)
            if let difference { differences.append(difference) }
        }
        #expect(differences == [])
    }

    private func limits(_ generator: inout HeadGenerator) -> ParserLimits {
        var limits = ParserLimits()
        limits.startLineBytes = generator.number(below: 100)
        limits.fieldLineBytes = generator.number(below: 150)
        limits.fieldSectionBytes = generator.number(below: 500)
        limits.fieldCount = generator.number(below: 8)
        limits.leadingEmptyLines = generator.number(below: 2)
        return limits
    }
}
