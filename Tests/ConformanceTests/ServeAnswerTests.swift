import HTTPParser
import TestSupport
import Testing

@Suite(
    "httpkit serve: responses, and flags from environment variables",
    .fewAtOnce, .timeLimit(.minutes(3)))
struct ServeAnswerTests {
    private func folder() throws -> Folder {
        let folder = try Folder()
        try folder.write("<p>app</p>", to: "index.html")
        try folder.write("content\n", to: "f.txt")
        return folder
    }

    @Test("--spa: navigations get the index file, other requests for missing files get 404")
    func singlePage() async throws {
        let server = try await ServeProcess(try folder(), ["--spa"])
        for path in ["/users/7", "/a.b/c.d"] {
            let page = try await server.get(path, [.accept: "text/html,*/*;q=0.8"])
            #expect(page.status == .ok && page.text == "<p>app</p>")
            #expect(try await server.get(path, [.accept: "*/*"]).status == .notFound)
            let script = try await server.get(
                path, [.accept: "text/html", "Sec-Fetch-Mode": "no-cors"])
            #expect(script.status == .notFound)
        }
        #expect(try await server.get("/f.txt", [.accept: "text/html"]).text == "content\n")
        let plain = try await ServeProcess(try folder())
        #expect(try await plain.get("/users/7", [.accept: "text/html"]).status == .notFound)
    }

    @Test("--header replaces the server's fields, also on errors")
    func fields() async throws {
        let server = try await ServeProcess(
            try folder(),
            [
                "--header", "Cache-Control: no-store", "--header", "X-Two: a", "--header",
                "X-Two:b",
            ])
        for path in ["/f.txt", "/missing"] {
            let answer = try await server.get(path)
            #expect(answer.fields.values(of: .cacheControl) == ["no-store"])
            #expect(answer.fields.values(of: "X-Two") == ["a", "b"])
        }
    }

    @Test(
        "Invalid fields and fields of the server's framing are refused",
        arguments: [
            "no colon", ": x", "A b: c", "X: a\nY: b", "Content-Length: 1",
            "transfer-encoding: chunked", "Connection: close",
        ])
    func wrongFields(_ field: String) async throws {
        let result = try await Program.run(
            Program.httpkit, ["serve", "--port", "0", "--header", field])
        #expect(result.status == 64 && result.complaints.contains("--header"))
    }

    private func allowed(
        _ server: ServeProcess, _ origin: String, method: String? = nil
    ) async throws -> (status: UInt16, origin: String?, credentials: String?) {
        let answer =
            if let method {
                try await server.send(
                    .options, "/dav/f.txt",
                    ["Origin": origin, "Access-Control-Request-Method": method])
            } else {
                try await server.get("/f.txt", ["Origin": origin])
            }
        return (
            answer.status.code, answer.fields["Access-Control-Allow-Origin"],
            answer.fields["Access-Control-Allow-Credentials"]
        )
    }

    @Test("--cors: pages of all sites may read files, but not change them")
    func allOrigins() async throws {
        let server = try await ServeProcess(try folder(), ["--webdav", "/dav", "--cors"])
        let read = try await allowed(server, "https://any.example")
        #expect(read.origin == "*" && read.credentials == nil)
        #expect(try await allowed(server, "https://any.example", method: "GET").status == 204)
        for method in ["PUT", "DELETE", "PROPFIND", "MOVE"] {
            let answer = try await allowed(server, "https://any.example", method: method)
            #expect(answer.status == 403, "\(method)")
        }
        let none = try await ServeProcess(try folder())
        #expect(try await allowed(none, "https://any.example").origin == nil)
    }

    @Test("--cors ORIGIN: pages of that site may log in and change files")
    func oneOrigin() async throws {
        let server = try await ServeProcess(
            try folder(),
            [
                "--webdav", "/dav", "--cors", "https://App.example/", "--auth", "basic", "--user",
                "ann:a",
            ])
        let own = "https://app.example"
        let read = try await allowed(server, own)
        #expect(read.status == 401 && read.origin == own && read.credentials == "true")
        for method in ["PUT", "PROPFIND", "MOVE"] {
            let answer = try await allowed(server, own, method: method)
            #expect(answer.status == 204 && answer.origin == own)
        }
        for origin in ["https://b.example", "http://app.example", "null"] {
            #expect(try await allowed(server, origin).origin == nil)
            #expect(try await allowed(server, origin, method: "PUT").status == 403)
        }
    }

    @Test(
        "--cors refuses values that are not origins",
        arguments: ["ftp://a", "https://", "https://a.example/path"])
    func wrongOrigin(_ origin: String) async throws {
        let result = try await Program.run(
            Program.httpkit, ["serve", "--port", "0", "--cors", origin])
        #expect(result.status == 64 && result.complaints.contains("--cors takes"))
    }

    @Test("Environment variables set flags, and flags take precedence")
    func environment() async throws {
        let server = try await ServeProcess(
            try folder(), ["--header", "X-From: flag"],
            by: [
                "/usr/bin/env", "HTTPKIT_PORT=1", "HTTPKIT_HEADER=X-From: variable",
                "HTTPKIT_NO_LISTING=1", "HTTPKIT_INDEX=none", "HTTPKIT_ACCESS_LOG=yes",
            ])
        #expect(server.port != 1)
        let answer = try await server.get("/")
        #expect(answer.status == .notFound && answer.fields["X-From"] == "flag")
        #expect(await server.waitForComplaint("\"GET / HTTP/1.1\" 404"))
        let wrong = try await Program.run(
            Program.httpkit, ["serve"], environment: ["HTTPKIT_QR": "perhaps"])
        #expect(wrong.status == 2)
        #expect(
            wrong.complaints
                == "httpkit: HTTPKIT_QR takes 1/true/yes/on or 0/false/no/off, got perhaps\n"
        )
    }

    @Test("-p sets the port")
    func port() async throws {
        let first = try await ServeProcess(try folder())
        let second = try await Program.run(
            Program.httpkit, ["serve", "-p", "\(first.port)"])
        #expect(second.status == 2 && second.complaints.contains("port \(first.port)"))
    }
}
