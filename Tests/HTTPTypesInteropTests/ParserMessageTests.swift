#if HTTPTypes
    import HTTPParser
    import HTTPTypes
    import HTTPTypesInterop
    import Testing

    @Suite("Messages of swift-http-types and of the parser")
    struct ParserMessageTests {
        private func request(_ text: String) throws -> HTTPRequest {
            var parser = RequestParser()
            parser.append(Array(text.utf8).span)
            guard let event = try parser.next(), case .head(let head) = consume event else {
                throw HTTPMessageError(.invalidTarget, "no head")
            }
            return HTTPRequest(head, scheme: "http")
        }

        @Test("Host becomes the authority, and the other fields keep order and duplicates")
        func request() throws {
            let request = try request(
                "POST /a%2Fb?c HTTP/1.1\r\nX-A: 1\r\nHost: example.org:81\r\nx-a: 2\r\n\r\n")
            #expect(request.method == .post)
            #expect(request.scheme == "http")
            #expect(request.authority == "example.org:81")
            #expect(request.path == "/a%2Fb?c")
            #expect(request.headerFields.map(\.value) == ["1", "2"])
            #expect(request.headerFields.map(\.name.rawName) == ["X-A", "x-a"])
        }

        @Test(
            "Each form of a target gives the expected authority and path",
            arguments: [
                ("GET /a", "a", "/a"), ("OPTIONS *", "a", "*"),
                ("GET http://b:1/c?d", "b:1", "/c?d"), ("GET http://b:1", "b:1", "/"),
                ("CONNECT c:443", "c:443", nil),
            ] as [(String, String, String?)])
        func forms(_ line: String, _ authority: String, _ path: String?) throws {
            let host = line.hasPrefix("CONNECT") ? "c:443" : "a"
            let request = try request("\(line) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            #expect(request.authority == authority)
            #expect(request.path == path)
            #expect(request.headerFields.isEmpty)
        }

        @Test("The serialiser writes a parsed request with the same bytes")
        func roundTrip() throws {
            let text = "GET /a?b HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nX-A: 1\r\nx-a: 2\r\n\r\n"
            let request = try request(text)
            var serializer = RequestSerializer()
            var buffer = ByteBuffer()
            try serializer.head(request, framing: .none, into: &buffer)
            var bytes: [UInt8] = []
            bytes.append(copying: buffer.bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == text)
        }

        @Test("A response keeps status code and fields through the serialiser and the parser")
        func response() throws {
            var serializer = ResponseSerializer()
            var buffer = ByteBuffer()
            let response = HTTPResponse(
                status: .init(code: 299, reasonPhrase: "Odd"), headerFields: [.eTag: "\"1\""])
            try serializer.head(response, framing: .length(0), into: &buffer)
            var parser = ResponseParser()
            parser.append(buffer.bytes)
            guard let event = try parser.next(), case .head(let head) = consume event else {
                return #expect(Bool(false), "no head")
            }
            let read = HTTPResponse(head)
            #expect(read.status.code == 299)
            #expect(read.headerFields[.eTag] == "\"1\"")
            #expect(HTTPResponse.Status(HTTPStatus.notFound).reasonPhrase == "Not Found")
            #expect(HTTPStatus(HTTPResponse.Status(code: 99)) == nil)
        }

        private func taken(_ field: HTTPTypes.HTTPField) -> String? {
            var fields = HTTPTypes.HTTPFields()
            fields.append(field)
            return HTTPParser.HTTPFields(fields)[.userAgent]
        }

        @Test("A value that is not UTF-8 is read as Latin-1")
        func latin1() {
            let field = HTTPTypes.HTTPField(
                name: .userAgent, value: [0x61, 0xE9] as [UInt8])
            #expect(taken(field) == "a\u{E9}")
            let replaced = HTTPTypes.HTTPField(name: .userAgent, value: "a\u{FFFD}")
            #expect(taken(replaced) == "a\u{FFFD}")
        }

        @Test("The serialiser refuses an invalid path and a missing authority")
        func refused() {
            var request = HTTPRequest(method: .get, scheme: nil, authority: "h", path: "no slash")
            var serializer = RequestSerializer()
            var buffer = ByteBuffer()
            #expect(throws: HTTPMessageError.self) {
                try serializer.head(request, into: &buffer)
            }
            request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
            #expect(throws: HTTPMessageError.self) {
                try serializer.head(request, into: &buffer)
            }
            let count = buffer.count
            #expect(count == 0)
        }

        @Test(
            "A method is the same after conversion in both directions",
            arguments: ["GET", "PROPFIND", "x-own!"])
        func methods(_ name: String) throws {
            let method = try #require(HTTPMethod(name))
            #expect(HTTPRequest.Method(method).rawValue == name)
            #expect(HTTPMethod(HTTPRequest.Method(method)) == method)
        }
    }
#endif
