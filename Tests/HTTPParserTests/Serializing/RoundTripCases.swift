import HTTPParser
import Testing

/// A request as the input of the serialiser, and as bytes.
struct RequestCase: Sendable, CustomTestStringConvertible {
    var method = HTTPMethod.get
    var target = "/"
    var fields: HTTPFields = [.host: "a"]
    var framing = BodyFraming.none
    var closes = false
    var content: [String] = []
    var trailers: HTTPFields = [:]
    var wire: String
    var events: String

    var testDescription: String { String(wire.prefix { $0 != "\r\n" }) }

    static let all = [
        RequestCase(
            target: "/a?b", fields: [.host: "example.org", .accept: "*/*"],
            wire: "GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n\r\n",
            events: """
                request GET /a?b HTTP/1.1 [origin, none, persistent]
                  Host: example.org
                  Accept: */*
                end
                """),
        RequestCase(
            target: "http://b/x", closes: true,
            wire: "GET http://b/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            events: """
                request GET http://b/x HTTP/1.1 [absolute, none, closing]
                  Host: a
                  Connection: close
                end
                stop close
                """),
        RequestCase(
            method: .post, wire: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            events: """
                request POST / HTTP/1.1 [origin, none, persistent]
                  Host: a
                  Content-Length: 0
                end
                """),
        RequestCase(
            method: .put, framing: .length(5), content: ["he", "", "llo"],
            wire: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
            events: """
                request PUT / HTTP/1.1 [origin, length 5, persistent]
                  Host: a
                  Content-Length: 5
                content hello
                end
                """),
        RequestCase(
            method: .delete, framing: .length(0),
            wire: "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
            events: """
                request DELETE / HTTP/1.1 [origin, none, persistent]
                  Host: a
                  Content-Length: 0
                end
                """),
        RequestCase(
            method: .patch, framing: .chunked, content: ["hello, world, hello", "", "!"],
            trailers: ["X-Sum": "1", "X-Empty": ""],
            wire: "PATCH / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "13\r\nhello, world, hello\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\nX-Empty: \r\n\r\n",
            events: """
                request PATCH / HTTP/1.1 [origin, chunked, persistent]
                  Host: a
                  Transfer-Encoding: chunked
                content hello, world, hello!
                end
                  X-Sum: 1
                  X-Empty:
                """),
        RequestCase(
            method: .options, target: "*", wire: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
            events: """
                request OPTIONS * HTTP/1.1 [asterisk, none, persistent]
                  Host: a
                end
                """),
        RequestCase(
            method: .connect, target: "a:443", wire: "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
            events: """
                request CONNECT a:443 HTTP/1.1 [authority, tunnel, persistent]
                  Host: a
                end
                stop tunnel
                """),
        RequestCase(
            method: HTTPMethod("X-OTHER") ?? .get, fields: ["host": "a", "X": "\u{FC}\tb"],
            wire: "X-OTHER / HTTP/1.1\r\nhost: a\r\nX: \u{FC}\tb\r\n\r\n",
            events: #"""
                request X-OTHER / HTTP/1.1 [origin, none, persistent]
                  host: a
                  X: \xc3\xbc\tb
                end
                """#),
    ]
}

/// A response as the input of the serialiser, and as bytes.
struct ResponseCase: Sendable, CustomTestStringConvertible {
    var status = HTTPStatus.ok
    var fields: HTTPFields = [:]
    var framing = BodyFraming.none
    var method = HTTPMethod.get
    var connection = ResponseSerializer.ConnectionOption.none
    var content: [String] = []
    var trailers: HTTPFields = [:]
    var wire: String
    var events: String

    var testDescription: String { "\(method) -> \(status), \(framing)" }

    static let all = [
        ResponseCase(
            fields: [.contentType: "text/plain"], framing: .length(2), content: ["hi"],
            wire: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi",
            events: """
                response HTTP/1.1 200 OK [length 2, persistent]
                  Content-Type: text/plain
                  Content-Length: 2
                content hi
                end
                """),
        ResponseCase(
            status: .notFound, connection: .close,
            wire: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            events: """
                response HTTP/1.1 404 Not Found [none, closing]
                  Content-Length: 0
                  Connection: close
                end
                stop close
                """),
        ResponseCase(
            framing: .chunked, content: ["hi", "ho"], trailers: ["A": "b"],
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nhi\r\n2\r\nho\r\n0\r\nA: b\r\n\r\n",
            events: """
                response HTTP/1.1 200 OK [chunked, persistent]
                  Transfer-Encoding: chunked
                content hiho
                end
                  A: b
                """),
        ResponseCase(
            framing: .untilClose, connection: .close, content: ["hi"],
            wire: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi",
            events: """
                response HTTP/1.1 200 OK [until-close, closing]
                  Connection: close
                content hi
                end
                stop close
                """),
        ResponseCase(
            framing: .length(2), method: .head, connection: .keepAlive, content: ["hi"],
            wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\n",
            events: """
                response HTTP/1.1 200 OK [none, persistent, announces 2]
                  Content-Length: 2
                  Connection: keep-alive
                end
                """),
        ResponseCase(
            framing: .chunked, method: .head, content: ["hi"], trailers: ["A": "b"],
            wire: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            events: """
                response HTTP/1.1 200 OK [none, persistent]
                  Transfer-Encoding: chunked
                end
                """),
        ResponseCase(
            status: .noContent, framing: .length(2), content: ["hi"],
            wire: "HTTP/1.1 204 No Content\r\n\r\n",
            events: """
                response HTTP/1.1 204 No Content [none, persistent]
                end
                """),
        ResponseCase(
            status: .noContent, framing: .chunked, wire: "HTTP/1.1 204 No Content\r\n\r\n",
            events: """
                response HTTP/1.1 204 No Content [none, persistent]
                end
                """),
        ResponseCase(
            status: .notModified, fields: [.eTag: "\"a\""], framing: .length(9),
            wire: "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n",
            events: """
                response HTTP/1.1 304 Not Modified [none, persistent, announces 9]
                  ETag: "a"
                  Content-Length: 9
                end
                """),
        ResponseCase(
            status: .notModified, wire: "HTTP/1.1 304 Not Modified\r\n\r\n",
            events: """
                response HTTP/1.1 304 Not Modified [none, persistent]
                end
                """),
        ResponseCase(
            status: .notModified, framing: .chunked, wire: "HTTP/1.1 304 Not Modified\r\n\r\n",
            events: """
                response HTTP/1.1 304 Not Modified [none, persistent]
                end
                """),
        ResponseCase(
            framing: .tunnel, method: .connect, wire: "HTTP/1.1 200 OK\r\n\r\n",
            events: """
                response HTTP/1.1 200 OK [tunnel, persistent]
                end
                stop tunnel
                """),
        // RFC 9110, 8.6 and RFC 9112, 6.1: a response that begins a tunnel has no framing.
        ResponseCase(
            framing: .none, method: .connect, wire: "HTTP/1.1 200 OK\r\n\r\n",
            events: """
                response HTTP/1.1 200 OK [tunnel, persistent]
                end
                stop tunnel
                """),
        ResponseCase(
            status: .switchingProtocols, fields: ["Upgrade": "x"],
            wire: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            events: """
                response HTTP/1.1 101 Switching Protocols [none, persistent]
                  Upgrade: x
                end
                stop upgrade
                """),
        ResponseCase(
            status: HTTPStatus(299) ?? .ok, wire: "HTTP/1.1 299 \r\nContent-Length: 0\r\n\r\n",
            events: """
                response HTTP/1.1 299 [none, persistent]
                  Content-Length: 0
                end
                """),
    ]
}
