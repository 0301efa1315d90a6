// ConnectTo: a request that goes to an address of one's own choice, while Host, SNI, the name in the
// certificate, cookies and cache stay with the URL. The content is read as it comes.
//
//   swift run --package-path Examples ConnectTo http://example.org/ 127.0.0.1 8080
//
// It prints the status and the number of bytes; what went wrong otherwise, with status 1.

import HTTPParser
import URLClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@main
struct ConnectTo {
    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 4, let port = UInt16(words[3]) else {
            print("usage: ConnectTo URL HOST PORT")
            exit(64)
        }
        var request = ClientRequest(.get, words[1])
        request.connectTo = ConnectTarget(host: words[2], port: port)
        do {
            let (content, response) = try await ClientSession().bytes(for: request)
            var size = 0
            for try await piece in content { size += piece.count }
            print(response.status.code, size)
        } catch {
            print(error)
            exit(1)
        }
    }
}
