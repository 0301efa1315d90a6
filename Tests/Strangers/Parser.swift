// A user's program that parses a request.

import HTTPParser

var parser = RequestParser()
parser.append(Array("GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n".utf8).span)
while let event = try parser.next() {
    if case .head(let head) = event { print(head.method, head.target.path) }
}
