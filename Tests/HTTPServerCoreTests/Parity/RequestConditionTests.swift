import HTTPCodecs
import HTTPParser
import HTTPServerCore
import HTTPServerKit
import TestSupport
import Testing

@Suite("RFC 9110, 12 to 14: Fields of a request as values")
struct RequestConditionTests {
    /// The result of a closure for a request with some fields.
    private func read(
        _ fields: String, _ value: @escaping @Sendable (Request) -> String
    ) async throws -> String {
        let handler = SyncHandler { .text(value($0)) }
        return try await RouterTests.answer(handler, Sample.get("/", fields)).text
    }

    @Test(
        "13.1.3, 13.1.4: Dates are read in all three formats",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ])
    func dates(text: String) async throws {
        for name in ["If-Modified-Since", "If-Unmodified-Since"] {
            let seconds = try await read("\(name): \(text)\r\n") { request in
                let date = request.ifModifiedSince ?? request.ifUnmodifiedSince
                return "\(date?.secondsSinceEpoch ?? 0)"
            }
            #expect(seconds == "784111777")
        }
    }

    @Test("13.1.1, 13.1.2: Strong and weak tags of several lines are one list")
    func tags() async throws {
        let fields = "If-None-Match: \"a\", W/\"b\"\r\nIf-None-Match: \"c\"\r\nIf-Match: *\r\n"
        let text = try await read(fields) { request in
            guard case .tags(let tags) = request.ifNoneMatch else { return "none" }
            return tags.map { "\($0.opaque)\($0.isWeak)" }.joined(separator: " ")
                + " \(request.ifMatch == .any)"
        }
        #expect(text == "afalse btrue cfalse true")
    }

    @Test(
        "13.1.5: If-Range is a tag or a date",
        arguments: [
            ("\"a\"", "tag(\"a\")"), ("W/\"a\"", "tag(W/\"a\")"),
            ("Sun, 06 Nov 1994 08:49:37 GMT", "date(Sun, 06 Nov 1994 08:49:37 GMT)"),
            ("a", "nil"),
        ])
    func ifRange(field: String, expected: String) async throws {
        let text = try await read("If-Range: \(field)\r\n") { request in
            switch request.ifRange {
            case .tag(let tag): "tag(\(tag))"
            case .date(let date): "date(\(date))"
            case nil: "nil"
            }
        }
        #expect(text == expected)
    }

    @Test("14.1.2: Ranges can be read as requested, without a length")
    func ranges() async throws {
        let text = try await read("Range: bytes=0-4, 9-, -3\r\n") { request in
            let ranges: [RangeSpec] = [
                .from(first: 0, last: 4), .from(first: 9, last: .max), .suffix(count: 3),
            ]
            let last = request.ranges?.last?.range(length: 10)
            return "\(request.ranges == ranges) \(last?.first ?? -1) \(last?.count ?? -1)"
        }
        #expect(text == "true 7 3")
    }

    @Test("12.5.1, 12.5.3: The weights of codings and media types can be read")
    func weights() async throws {
        let fields = """
            Accept-Encoding: gzip;q=0, deflate;q=0.5\r\nAccept: text/*;q=0.3, text/html\r\n
            """
        let text = try await read(fields) { request in
            let codings = request.acceptedCodings
            let types = request.acceptedMediaTypes
            return """
                \(codings.weight(of: .gzip)) \(codings.weight(of: .deflate)) \
                \(types?.weight(of: .html) ?? -1) \(types?.weight(of: .plainText) ?? -1)
                """
        }
        #expect(text == "0 500 1000 300")
    }

    @Test("A missing or malformed field has no value")
    func absent() async throws {
        let broken = """
            If-None-Match: a\r\nIf-Match: "\r\nIf-Modified-Since: today\r\nRange: lines=1-2\r\n\
            Accept: ,/\r\nAccept-Encoding: ;\r\nIf-Range: x\r\n
            """
        for fields in ["", broken] {
            let text = try await read(fields) { request in
                let areAbsent =
                    request.ifNoneMatch == nil && request.ifMatch == nil && request.ranges == nil
                    && request.ifModifiedSince == nil && request.ifUnmodifiedSince == nil
                    && request.ifRange == nil && request.acceptedMediaTypes == nil
                return "\(areAbsent) \(request.acceptedCodings == .absent)"
            }
            #expect(text == "true true")
        }
    }

    @Test(
        "13.2.2: requireConditions refuses a change by 412 before it is made",
        arguments: [
            ("If-Match: \"a\"\r\n", 200), ("If-Match: \"b\"\r\n", 412), ("If-Match: *\r\n", 200),
            ("If-None-Match: *\r\n", 412), ("If-None-Match: \"b\"\r\n", 200),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 412),
            ("If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 200), ("", 200),
        ])
    func changes(fields: String, status: Int) async throws {
        let handler = SyncHandler { request in
            try request.requireConditions(
                entityTag: EntityTag("\"a\""),
                lastModified: HTTPDate(secondsSinceEpoch: 784_111_777))
            return .text("changed")
        }
        for method in ["PUT", "POST", "DELETE"] {
            let answer = try await RouterTests.answer(
                handler, "\(method) / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            #expect(answer.status == status)
            #expect((answer.text == "changed") == (status == 200))
        }
    }

    @Test("13.1.2: If-None-Match: * allows the creation of a new resource")
    func creation() async throws {
        let handler = SyncHandler { request in
            try request.requireConditions(entityTag: nil, exists: false)
            return Response(.created)
        }
        for (field, status) in [("If-None-Match: *", 201), ("If-Match: *", 412)] {
            let answer = try await RouterTests.answer(
                handler, "PUT / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n")
            #expect(answer.status == status)
        }
    }
}

@Suite("Requests: query and content")
struct RequestValueTests {
    private func read(
        _ request: String, _ value: @escaping @Sendable (Request) -> String
    ) async throws -> String {
        try await RouterTests.answer(SyncHandler { .text(value($0)) }, request).text
    }

    @Test(
        "A query keeps order and duplicates, and a name without a value has an empty one",
        arguments: [
            ("/?a&b=1&a=2&c=x+y%21", "a=|b=1|a=2|c=x y!"), ("/?=1&&d=%zz", "=1|d=%zz"),
            ("/", ""), ("/?", ""),
        ])
    func query(target: String, expected: String) async throws {
        let text = try await read(Sample.get(target)) { request in
            request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
        }
        #expect(text == expected)
    }

    @Test(
        "hasContent follows the announced framing, whatever the method",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", false),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", true),
            ("DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true),
        ])
    func hasContent(request: String, expected: Bool) async throws {
        #expect(try await read(request) { "\($0.hasContent)" } == "\(expected)")
    }
}
