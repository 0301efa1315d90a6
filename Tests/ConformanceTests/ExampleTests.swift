import Foundation
import HTTPParser
import TestSupport
import Testing
import URLClient

@Suite("The examples respond as documented", .fewAtOnce)
struct ExampleTests {
    @Test func helloWorld() async throws {
        let example = try await ExampleProcess("HelloWorld")
        let page = "<html><body><p>Hello World</p></body></html>\n"
        #expect(try await example.ask() == page + "\n200")
        #expect(try await example.ask("/any/path?x") == page + "\n200")
    }

    @Test func helloServer() async throws {
        let example = try await ExampleProcess("HelloServer")
        #expect(try await example.ask() == "Hello\n\n200")
        #expect(try await example.ask("/hello/Ada") == "Hello, Ada\n\n200")
        #expect(try await example.ask("/echo", .post, body: .text("a b")) == "a b\n200")
        #expect(try await example.ask("/count") == "1\n2\n3\n4\n5\n\n200")
    }

    @Test func redirect() async throws {
        let example = try await ExampleProcess("Redirect")
        #expect(try await example.ask().hasSuffix("\n302"))
        #expect(try await example.ask(follows: true) == "<p>The index</p>\n\n200")
        #expect(try await example.ask("/old/moved").hasSuffix("\n308"))
        #expect(
            try await example.ask("/", .post, body: .text("x=1"), follows: true).hasSuffix("\n405"))
        #expect(try await example.ask("/old/else", follows: true) == "<p>The index</p>\n\n200")
    }

    @Test(arguments: ["/at-once", "/later", "/piecewise"])
    func asyncAnswers(_ path: String) async throws {
        let example = try await ExampleProcess("AsyncAnswers")
        let page = "<html><body><p>\nHello World!\n</p></body></html>\n"
        #expect(try await example.ask(path) == page + "\n200")
    }

    @Test func staticSite() async throws {
        let folder = try Folder()
        try folder.write("<p>here</p>", to: "index.html")
        let example = try await ExampleProcess("StaticSite", folder.path)
        #expect(try await example.ask() == "<p>here</p>\n200")
        #expect(try await example.ask("/", .get, [.range: "bytes=1-1"]).hasSuffix("p\n206"))
        #expect(try await example.ask("/nothing").hasSuffix("\n404"))
    }

    @Test func dynamicSite() async throws {
        let website = ExampleProcess.folder + "/DynamicSite/Website"
        let example = try await ExampleProcess("DynamicSite", website)
        let page = try await example.ask(follows: true)
        #expect(page.contains("The variable is <b>value</b>; you come from 127.0.0.1."))
        #expect(page.hasSuffix("\n200"))
        let style = try String(contentsOfFile: website + "/style.css", encoding: .utf8)
        #expect(try await example.ask("/style.css") == style + "\n200")
        #expect(try await example.ask("/nothing.html").hasSuffix("\n404"))
        #expect(try await example.ask("/../x.html").hasSuffix("\n400"))
    }

    @Test func connectTo() async throws {
        let server = try await ExampleProcess("HelloServer")
        let program = try await ExampleProcess.binary("ConnectTo")
        let url = "http://name.test/hello/Ada"
        let done = try await Program.run(program, [url, "127.0.0.1", "\(server.port)"])
        #expect(done.text == "200 11\n")
        let failed = try await Program.run(program, [url, "127.0.0.1", "1"])
        #expect(failed.status == 1)
    }

    @Test func sharedFolder() async throws {
        let folder = try Folder()
        let example = try await ExampleProcess("SharedFolder", folder.path)
        let path = "/share/notes.txt"
        #expect(try await example.ask(path, .put, body: .file("/etc/hostname")).hasSuffix("\n201"))
        let text = try String(contentsOfFile: "/etc/hostname", encoding: .utf8)
        #expect(try await example.ask(path) == text + "\n200")
        #expect(try await example.ask("/share/", .propfind).hasSuffix("\n207"))
    }

    @Test func uploadPage() async throws {
        let folder = try Folder()
        let example = try await ExampleProcess(
            "UploadPage", folder.path, environment: ["SHARE_PASSWORD": "open sesame"])
        func ask(_ path: String, _ body: String? = nil) async throws -> String {
            try await example.ask(
                path, body == nil ? .get : .post, body: body.map { .text($0) } ?? .none
            ) {
                $0.authentication.challenge = { _ in
                    .use(.password(user: "me", password: "open sesame"))
                }
            }
        }
        #expect(try await example.ask("/dav/").hasSuffix("\n401"))
        #expect(try await example.ask("/upload/").hasSuffix("\n401"))
        for (name, status) in [("note.txt", "201"), ("note.exe", "403")] {
            let answer = try await ask("/upload/upload?name=new-\(name)", "sent")
            #expect(answer.hasSuffix("\n" + status))
        }
        #expect(folder.text("new-note.txt") == "sent")
        #expect(try await ask("/dav/new-note.txt") == "sent\n200")
        // No other file remains, although the example does not close its store.
        try await example.stop()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["new-note.txt"])
    }

    @Test func textTransfer() async throws {
        let folder = try Folder()
        let path = folder.file("text.txt").path
        let example = try await ExampleProcess("TextTransfer", path, lines: "first\nsecond\n")
        var text = ""
        // The lines are written after the server has begun.
        for _ in 0..<600 where !text.contains("second") {
            text = try await example.ask()
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(text == "first\nsecond\n\n200")
        #expect(try await example.ask("/other").hasSuffix("\n501"))
        #expect(try await example.ask("/", .post, body: .text("x")).hasSuffix("\n501"))
    }

    @Test func textTransferEndsWithItsInput() async throws {
        let folder = try Folder()
        let path = folder.file("text.txt").path
        let result = try await Program.run(
            ExampleProcess.binary("TextTransfer"), ["0", path], input: Array("line\n".utf8))
        #expect(result.status == 0, "\(result.complaints)")
        #expect(folder.bytes("text.txt") == Array("line\n".utf8))
    }

    @Test("ProtectedFiles has a folder for users, a page for everybody, and one for the owner")
    func protectedFiles() async throws {
        let folder = try Folder()
        try folder.write("content", to: "f.txt")
        let example = try await ExampleProcess("ProtectedFiles", folder.path)
        #expect(try await example.ask() == "Hello, stranger\n\n200")
        #expect(try await example.ask("/files/f.txt").hasSuffix("\n401"))
        for (scheme, user, password) in [
            (ProtectionSpace.Scheme.digest, "ann", "correct-horse"),
            (.basic, "bob", "battery-staple"),
        ] {
            func ask(_ path: String) async throws -> String {
                try await example.ask(path) { configuration in
                    configuration.authentication.challenge = { challenge in
                        guard challenge.space.scheme == scheme, challenge.failureCount == 0 else {
                            return .reject
                        }
                        return .use(.password(user: user, password: password))
                    }
                }
            }
            #expect(try await ask("/files/f.txt") == "content\n200")
            #expect(
                try await ask("/owner").hasSuffix(user == "ann" ? "Hello, ann\n\n200" : "\n403"))
        }
    }
}
