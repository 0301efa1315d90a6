// ParserAlone: HTTPParser without a server. Reads requests from standard input, as many as come,
// and prints their parts. It opens no socket and needs no other module.
//
//   printf 'GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n' |
//       swift run --package-path Examples ParserAlone
//
// On bad input it prints the error, its offset, and the status that a server would answer with.

import HTTPParser

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@main
struct ParserAlone {
    static func main() {
        var parser = RequestParser()
        do {
            while let bytes = readSome() {
                parser.append(bytes.span)
                try printEvents(of: &parser)
            }
            try parser.finish()
        } catch {
            print("error:", error, "(answer with \(error.suggestedStatus))")
            exit(1)
        }
    }

    /// Prints the events of the bytes so far. Where they stop inside a request it prints nothing more,
    /// and the next call continues there.
    static func printEvents(of parser: inout RequestParser) throws(HTTPParseError) {
        while let event = try parser.next() {
            switch event {
            case .head(let head):
                print(head.method, head.target.path, head.target.query ?? "-", head.framing)
                head.fields.forEach { print("  \($0.name): \($0.value)") }
            case .content(let bytes):
                print("  \(bytes.count) bytes of content")
            case .end(let trailers):
                print("end, \(trailers.count) trailers")
            }
        }
        if let reason = parser.stopReason {
            print("stopped (\(reason)), \(parser.takeRest().count) bytes left over")
        }
    }

    /// The next bytes of standard input; `nil` at its end.
    static func readSome() -> [UInt8]? {
        var room = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &room, room.count)
        guard count >= 0 else {
            perror("standard input")
            exit(1)
        }
        return count > 0 ? Array(room[..<count]) : nil
    }
}
