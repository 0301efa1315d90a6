import Foundation
import Testing

@Suite("httpkit as a program")
struct HTTPKitTests {
    @Test("--version and --help print on standard output")
    func about() async throws {
        let version = try await HTTPKitProcess.run(["--version"])
        #expect(version.status == 0)
        #expect(version.output.split(separator: ".").count == 3)
        let help = try await HTTPKitProcess.run(["parse", "--help"])
        #expect(help.status == 0)
        #expect(help.output.contains("--batch"))
    }

    @Test("A flag that does not exist is a usage error")
    func usage() async throws {
        let run = try await HTTPKitProcess.run(["parse", "--nonsense"])
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(run.complaint.contains("--nonsense"))
    }

    @Test("parse prints events and exits 0, or 1 after bad input")
    func parse() async throws {
        let good = try await HTTPKitProcess.run(
            ["parse"], input: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(good.status == 0)
        #expect(good.lines.count == 2)
        #expect(good.complaint.isEmpty)
        let bad = try await HTTPKitProcess.run(["parse"], input: "GET / HTTP/1.1\n\n")
        #expect(bad.status == 1)
        #expect(bad.lines.map(\.event) == ["error"])
    }

    @Test("parse --response reads responses")
    func response() async throws {
        let run = try await HTTPKitProcess.run(
            ["parse", "--response"], input: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
        #expect(run.status == 0)
        #expect(run.lines.map(\.event) == ["head", "content", "end"])
    }

    @Test("parse --batch answers thousands of cases in order and exits 0")
    func batch() async throws {
        let bytes = Data("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8).base64EncodedString()
        let input = (0..<5_000).map {
            #"{"id":\#($0),"kind":"request","bytes":"\#(bytes)"}"# + "\n"
        }
        let run = try await HTTPKitProcess.run(["parse", "--batch"], input: input.joined())
        #expect(run.status == 0)
        #expect(run.lines.map(\.id) == Array(0..<5_000))
        #expect(run.lines.allSatisfy { $0.result == "accept" })
    }

    @Test("parse --batch continues after a line that is no case, and exits 1 at the end")
    func batchFault() async throws {
        let input = """
            {"id":1,"kind":"request","bytes":""}
            nonsense
            {"id":3,"kind":"request","bytes":"Rwo="}
            """
        let run = try await HTTPKitProcess.run(["parse", "--batch"], input: input)
        #expect(run.status == 1)
        #expect(run.lines.map(\.result) == ["accept", "error", "reject"])
        #expect(run.complaint == "httpkit: 1 of 3 lines are no cases\n")
    }

    @Test("parse --batch reads a line of several megabytes and returns its content")
    func longLine() async throws {
        let content = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0) })
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(content.count)\r\n\r\n"
        let bytes = (Data(head.utf8) + content).base64EncodedString()
        let run = try await HTTPKitProcess.run(
            ["parse", "--batch"], input: #"{"id":1,"kind":"request","bytes":"\#(bytes)"}"#)
        #expect(run.lines.first?.messages?.first?.content == content.base64EncodedString())
    }
}
