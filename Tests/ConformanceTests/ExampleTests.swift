import Foundation
import TestSupport
import Testing

@Suite("The examples answer as they say", .fewAtOnce)
struct ExampleTests {
    @Test func helloWorld() async throws {
        let example = try await ExampleProcess("HelloWorld")
        let page = "<html><body><p>Hello World</p></body></html>\n"
        #expect(try await example.curl() == page + "\n200")
        #expect(try await example.curl(path: "/any/path?x") == page + "\n200")
    }

    @Test func helloServer() async throws {
        let example = try await ExampleProcess("HelloServer")
        #expect(try await example.curl() == "Hello\n\n200")
        #expect(try await example.curl(path: "/hello/Ada") == "Hello, Ada\n\n200")
        #expect(try await example.curl("--data-binary", "a b", path: "/echo") == "a b\n200")
        #expect(try await example.curl(path: "/count") == "1\n2\n3\n4\n5\n\n200")
    }

    @Test func redirect() async throws {
        let example = try await ExampleProcess("Redirect")
        #expect(try await example.curl().hasSuffix("\n302"))
        #expect(try await example.curl("-L") == "<p>The index</p>\n\n200")
        #expect(try await example.curl(path: "/old/moved").hasSuffix("\n308"))
        #expect(try await example.curl("-L", "-d", "x=1", path: "/").hasSuffix("\n405"))
        #expect(try await example.curl("-L", path: "/old/else") == "<p>The index</p>\n\n200")
    }

    @Test(arguments: ["/at-once", "/later", "/piecewise"])
    func asyncAnswers(_ path: String) async throws {
        let example = try await ExampleProcess("AsyncAnswers")
        let page = "<html><body><p>\nHello World!\n</p></body></html>\n"
        #expect(try await example.curl(path: path) == page + "\n200")
    }

    @Test func staticSite() async throws {
        let folder = try Folder()
        try folder.write("<p>here</p>", to: "index.html")
        let example = try await ExampleProcess("StaticSite", folder.path)
        #expect(try await example.curl() == "<p>here</p>\n200")
        #expect(try await example.curl("-r", "1-1").hasSuffix("p\n206"))
        #expect(try await example.curl(path: "/nothing").hasSuffix("\n404"))
    }

    @Test func dynamicSite() async throws {
        let website = ExampleProcess.folder + "/DynamicSite/Website"
        let example = try await ExampleProcess("DynamicSite", website)
        let page = try await example.curl("-L")
        #expect(page.contains("The variable is <b>value</b>; you come from 127.0.0.1."))
        #expect(page.hasSuffix("\n200"))
        let style = try String(contentsOfFile: website + "/style.css", encoding: .utf8)
        #expect(try await example.curl(path: "/style.css") == style + "\n200")
        #expect(try await example.curl(path: "/nothing.html").hasSuffix("\n404"))
        #expect(try await example.curl("--path-as-is", path: "/../x.html").hasSuffix("\n400"))
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
        #expect(try await example.curl("-T", "/etc/hostname", path: path).hasSuffix("\n201"))
        let text = try String(contentsOfFile: "/etc/hostname", encoding: .utf8)
        #expect(try await example.curl(path: path) == text + "\n200")
        #expect(try await example.curl("-X", "PROPFIND", path: "/share/").hasSuffix("\n207"))
    }

    @Test func textTransfer() async throws {
        let folder = try Folder()
        let path = folder.file("text.txt").path
        let example = try await ExampleProcess("TextTransfer", path, lines: "first\nsecond\n")
        var text = ""
        // The lines are written after the server has begun.
        for _ in 0..<600 where !text.contains("second") {
            text = try await example.curl()
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(text == "first\nsecond\n\n200")
        #expect(try await example.curl(path: "/other").hasSuffix("\n501"))
        #expect(try await example.curl("-d", "x", path: "/").hasSuffix("\n501"))
    }

    @Test func textTransferEndsWithItsInput() async throws {
        let folder = try Folder()
        let path = folder.file("text.txt").path
        let result = try await Program.run(
            ExampleProcess.binary("TextTransfer"), ["0", path], input: Array("line\n".utf8))
        #expect(result.status == 0, "\(result.complaints)")
        #expect(folder.bytes("text.txt") == Array("line\n".utf8))
    }

    @Test("ProtectedFiles: a folder for users, a page for anybody, one for the owner")
    func protectedFiles() async throws {
        let folder = try Folder()
        try folder.write("content", to: "f.txt")
        let example = try await ExampleProcess("ProtectedFiles", folder.path)
        #expect(try await example.curl() == "Hello, stranger\n\n200")
        #expect(try await example.curl(path: "/files/f.txt").hasSuffix("\n401"))
        for login in [["--digest", "ann:correct-horse"], ["--basic", "bob:battery-staple"]] {
            let (flag, user) = (login[0], login[1])
            let isOwner = user.hasPrefix("ann")
            #expect(
                try await example.curl(flag, "-u", user, path: "/files/f.txt") == "content\n200")
            #expect(
                try await example.curl(flag, "-u", user, path: "/owner").hasSuffix(
                    isOwner ? "Hello, ann\n\n200" : "\n403"))
        }
    }
}
