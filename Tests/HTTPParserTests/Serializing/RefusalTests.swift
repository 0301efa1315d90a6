import HTTPParser
import Testing

@Suite("RFC 9110, 5.5 and RFC 9112, 11.1: Messages that the serialisers refuse")
struct RefusalTests {
    /// Tries to write a request and returns the error; the buffer must be unchanged then.
    private func requestError(
        _ method: HTTPMethod = .get, target: String = "/", fields: HTTPFields = [.host: "a"]
    ) -> HTTPMessageError? {
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        buffer.append("before")
        do throws(HTTPMessageError) {
            try serializer.head(method, target: target, fields: fields, into: &buffer)
            return nil
        } catch {
            #expect(buffer.bytes.copied == Array("before".utf8))
            return error
        }
    }

    private func responseError(fields: HTTPFields) -> HTTPMessageError? {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        buffer.append("before")
        do throws(HTTPMessageError) {
            try serializer.head(.ok, fields: fields, framing: .none, into: &buffer)
            return nil
        } catch {
            #expect(buffer.bytes.copied == Array("before".utf8))
            return error
        }
    }

    private func interimError(fields: HTTPFields) -> HTTPMessageError? {
        var buffer = ByteBuffer()
        do throws(HTTPMessageError) {
            try ResponseSerializer().interim(.earlyHints, fields: fields, into: &buffer)
            return nil
        } catch {
            #expect(buffer.isEmpty == true)
            return error
        }
    }

    private func trailerError(_ trailers: HTTPFields) -> HTTPMessageError? {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        do throws(HTTPMessageError) {
            try serializer.head(.ok, framing: .chunked, into: &buffer)
            buffer.removeAll()
            try serializer.end(trailers: trailers, into: &buffer)
            return nil
        } catch {
            #expect(buffer.isEmpty == true)
            return error
        }
    }

    @Test("Earlier bytes of a buffer do not affect a value")
    func usedBuffer() throws {
        for length in 0...40 {
            var buffer = ByteBuffer(capacity: 256)
            for _ in 0..<64 { buffer.append("\r\n\0\u{7F}") }
            buffer.removeAll()
            let value = String(repeating: "v", count: length)
            try buffer.append(field: "X", value)
            #expect(buffer.bytes.copied == Array("X: \(value)\r\n".utf8))
        }
    }

    @Test(
        "Values with control characters at any place are refused",
        arguments: ["\r", "\n", "\r\n", "\0", "\u{1}", "\u{B}", "\u{1F}", "\u{7F}"])
    func values(spoiler: String) {
        for length in [0, 1, 7, 15, 16, 17, 31, 32, 33, 64] {
            for place in 0...length {
                var value = String(repeating: "v", count: length)
                value.insert(
                    contentsOf: spoiler, at: value.index(value.startIndex, offsetBy: place))
                let expected = HTTPMessageError(.invalidFieldValue, "X")
                #expect(requestError(fields: [.host: "a", "X": value]) == expected)
                #expect(responseError(fields: ["A": "b", "X": value]) == expected)
                #expect(interimError(fields: ["X": value]) == expected)
                #expect(trailerError(["A": "b", "X": value]) == expected)
            }
        }
    }

    @Test("HTAB, SP and text beyond ASCII are valid in values")
    func validValues() {
        for value in ["", " ", "a\tb", "gr\u{FC}n", "\u{85}", "\u{2028}", "\u{1F600}"] {
            #expect(responseError(fields: ["X": value]) == nil)
        }
    }

    @Test(
        "Names that are not tokens are refused",
        arguments: ["", " ", "a b", "a:", "a\r\nb", "a\n", "a\0", "\u{FC}", "a(", "a\t"])
    func names(name: String) {
        #expect(HTTPFieldName(name) == nil)
        let fields: HTTPFields = [HTTPFieldName(unchecked: name): "v"]
        #expect(responseError(fields: fields) == HTTPMessageError(.invalidFieldName, name))
    }

    @Test(
        "Fields that determine the end of the message are refused",
        arguments: [
            "Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING",
            "Connection", "conNection",
        ])
    func framingFields(name: String) throws {
        let fieldName = try #require(HTTPFieldName(name))
        let expected = HTTPMessageError(.framingField, name)
        #expect(requestError(fields: [.host: "a", fieldName: "1"]) == expected)
        #expect(responseError(fields: [fieldName: "1"]) == expected)
        #expect(interimError(fields: [fieldName: "1"]) == expected)
        #expect(trailerError([fieldName: "1"]) == expected)
    }

    @Test("Fields whose names have the same length as framing fields are valid")
    func otherFields() {
        #expect(responseError(fields: ["Content-Lengti": "1", "Connectiox": "close"]) == nil)
        #expect(responseError(fields: ["Transfer-Encodinx": "chunked"]) == nil)
    }

    @Test(
        "Invalid targets are refused",
        arguments: [
            "", " ", "/a b", "/a\r\nX: y", "/\u{FC}", "/a#b", "a", "*", "/\0", "/\t", "http://",
            "http://u@h/",
        ])
    func targets(target: String) {
        #expect(requestError(target: target) == HTTPMessageError(.invalidTarget, target))
    }

    @Test("A target whose form is invalid for the method is refused")
    func targetForms() {
        #expect(requestError(.connect, target: "/") == HTTPMessageError(.invalidTarget, "/"))
        #expect(requestError(.connect, target: "a") == HTTPMessageError(.invalidTarget, "a"))
        #expect(requestError(.connect, target: "a:1") == nil)
        #expect(requestError(.options, target: "*") == nil)
        #expect(requestError(.get, target: "a:1") == HTTPMessageError(.invalidTarget, "a:1"))
    }

    @Test("A request without Host, or with two, is refused")
    func host() {
        #expect(requestError(fields: [:]) == HTTPMessageError(.missingHost))
        #expect(requestError(fields: ["Host": "a", "host": "b"]) == HTTPMessageError(.missingHost))
    }

    @Test("A piece of content beyond the announced length is refused as a whole")
    func tooMuchContent() throws {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        try serializer.head(.ok, framing: .length(3), into: &buffer)
        buffer.removeAll()
        try serializer.content([1, 2].span, into: &buffer)
        #expect(throws: HTTPMessageError(.contentTooLong)) {
            try serializer.content([3, 4].span, into: &buffer)
        }
        #expect(buffer.bytes.copied == [1, 2])
        try serializer.content([3].span, into: &buffer)
        try serializer.end(into: &buffer)
        #expect(buffer.bytes.copied == [1, 2, 3])
    }

    @Test("Content of a message without content is refused")
    func contentWithoutFraming() throws {
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        try serializer.head(.get, target: "/", fields: [.host: "a"], into: &buffer)
        #expect(throws: HTTPMessageError(.contentTooLong)) {
            try serializer.content([1].span, into: &buffer)
        }
        try serializer.content([UInt8]().span, into: &buffer)
        try serializer.end(into: &buffer)
    }

    @Test("Less content than announced is refused", arguments: [0, 1, 2])
    func tooLittleContent(count: Int) throws {
        var serializer = RequestSerializer()
        var buffer = ByteBuffer()
        try serializer.head(
            .put, target: "/", fields: [.host: "a"], framing: .length(3), into: &buffer)
        try serializer.content([UInt8](repeating: 0, count: count).span, into: &buffer)
        #expect(throws: HTTPMessageError(.contentTooShort)) { try serializer.end(into: &buffer) }
    }

    @Test(
        "Trailers without chunked framing are refused",
        arguments: [.none, .length(0), .untilClose] as [BodyFraming])
    func misplacedTrailers(framing: BodyFraming) throws {
        var serializer = ResponseSerializer()
        var buffer = ByteBuffer()
        try serializer.head(.ok, framing: framing, into: &buffer)
        #expect(throws: HTTPMessageError(.misplacedTrailers)) {
            try serializer.end(trailers: ["A": "b"], into: &buffer)
        }
    }

    @Test("The text of an error names the kind and the field")
    func text() {
        #expect("\(HTTPMessageError(.framingField, "Connection"))" == "framingField: Connection")
        #expect("\(HTTPMessageError(.contentTooShort))" == "contentTooShort")
    }
}
