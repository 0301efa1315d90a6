// A program in Embedded Swift with HTTPParser only; `Scripts/check-embedded` builds and runs it.

import HTTPParser

@main
struct Program {
    static func main() {
        var parser = RequestParser()
        let text = "POST /a?b HTTP/1.1\r\nHost: example.org\r\nContent-Length: 2\r\n\r\nhi"
        do {
            // Bytes arrive one by one, as from a serial line.
            for byte in Array(text.utf8) {
                parser.append([byte].span)
                while let event = try parser.next() { show(event) }
            }
            try parser.finish()
        } catch {
            print("error at \(error.offset), answer with \(error.suggestedStatus.code)")
        }
        do {
            try answer()
        } catch {
            print("the response is invalid")
        }
    }

    static func show(_ event: consuming RequestEvent) {
        switch event {
        case .head(let head):
            print("\(head.method.name) \(head.target.path) \(head.fields[.host] ?? "-")")
        case .content(let bytes): print("\(bytes.count) bytes of content")
        case .end(let trailers): print("end, \(trailers.count) trailers")
        }
    }

    /// Writes a response and counts its bytes.
    static func answer() throws(HTTPMessageError) {
        var serializer = ResponseSerializer()
        var bytes = ByteBuffer()
        try serializer.head(
            .ok, fields: [.contentType: "text/plain"], framing: .chunked, into: &bytes)
        try serializer.content([104, 105].span, into: &bytes)
        try serializer.end(trailers: ["X-Count": "1"], into: &bytes)
        print("\(bytes.count) bytes of response")
    }
}
