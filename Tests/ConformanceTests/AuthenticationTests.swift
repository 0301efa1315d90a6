import Foundation
import TestSupport
import Testing

@Suite("RFC 7616 and RFC 7617: logins of real clients", .fewAtOnce)
struct AuthenticationTests {
    private static let user = "ann:correct: horse"

    private func server(_ scheme: String, _ flags: String...) async throws -> ServeProcess {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        return try await ServeProcess(
            folder, ["--auth", scheme, "--user", Self.user, "--echo", "/echo"] + flags)
    }

    // MARK: curl

    @Test(
        "curl logs in and gets the file",
        arguments: [
            ("basic", "--basic"), ("basic", "--anyauth"), ("digest", "--digest"),
            ("digest", "--anyauth"),
        ])
    func curlGet(_ scheme: String, _ flag: String) async throws {
        let server = try await server(scheme)
        let result = try await server.curl(flag, "-u", Self.user, path: "/f.txt")
        #expect(result.text == "content\n")
        let head = try await server.curl(flag, "-I", "-u", Self.user, path: "/f.txt")
        let last = head.text.components(separatedBy: "\r\n\r\n").dropLast().last ?? ""
        #expect(last.hasPrefix("HTTP/1.1 200") && last.contains("Content-Length: 8"))
        let twice = try await server.curl(
            flag, "-u", Self.user, "-o", "/dev/null", server.url("/f.txt"), path: "/f.txt?q=a%20b")
        #expect(twice.text == "content\n")
    }

    @Test(
        "curl logs in and sends content, with at most one 100 Continue",
        arguments: [
            ("basic", "--basic"), ("basic", "--anyauth"), ("digest", "--digest"),
            ("digest", "--anyauth"),
        ], [["--data-binary"], ["-X", "PUT", "--data-binary"], ["-T"]])
    func curlContent(_ login: (scheme: String, flag: String), _ way: [String]) async throws {
        let folder = try Folder()
        let content = [UInt8].noise(1_500_000, seed: 9)
        try folder.write(content, to: "upload")
        let server = try await server(login.scheme)
        let file = way == ["-T"] ? folder.file("upload").path : "@" + folder.file("upload").path
        let result = try await Program.run(
            "curl",
            ["-sSv", "-m", "110", login.flag, "-u", Self.user] + way + [
                file, server.url("/echo?x=1"),
            ])
        let echo = try Echo(result.output)
        #expect(echo.content.elementsEqual(content))
        #expect(echo.method == (way == ["--data-binary"] ? "POST" : "PUT"))
        // At most one 100: none before the login.
        #expect(result.complaints.components(separatedBy: "< HTTP/1.1 100 Continue").count <= 2)
    }

    @Test("curl selects SHA-256 of the two offered algorithms")
    func curlAlgorithm() async throws {
        let server = try await server("digest", "--realm", "A \"quoted\" r\u{E9}alm")
        let result = try await server.curl("--digest", "-u", Self.user, path: "/echo")
        let field = try #require(try Echo(result.output)["authorization"])
        #expect(field.contains("algorithm=SHA-256") && field.contains("qop=auth"))
    }

    @Test(
        "curl is refused with a wrong password, with an unknown user, and without credentials",
        arguments: ["basic", "digest"], ["ann:wrong", "nobody:correct: horse", "ann:", ""])
    func curlRefused(_ scheme: String, _ user: String) async throws {
        let server = try await server(scheme)
        let login = user.isEmpty ? [] : ["--anyauth", "-u", user]
        let result = try await Program.run(
            "curl",
            ["-sS", "-m", "110", "-o", "/dev/null", "-w", "%{http_code}"] + login
                + [server.url("/f.txt")])
        #expect(result.text == "401")
    }

    // MARK: Python

    private static let requests = """
        import sys, requests
        from requests.auth import HTTPBasicAuth, HTTPDigestAuth
        scheme, base = sys.argv[1:]
        make = HTTPBasicAuth if scheme == "basic" else HTTPDigestAuth
        session = requests.Session()
        session.auth = make("ann", "correct: horse")
        for _ in range(5):
            answer = session.get(base + "/f.txt", params={"q": "a b"})
            assert (answer.status_code, answer.text) == (200, "content\\n"), answer
        assert session.head(base + "/f.txt").status_code == 200
        content = bytes(range(256)) * 400
        for method in ["POST", "PUT", "PATCH"]:
            answer = session.request(method, base + "/echo", data=content)
            assert answer.json()["method"] == method, answer.text
            assert len(answer.json()["content"]) == (len(content) + 2) // 3 * 4
        for user, password in [("ann", "wrong"), ("nobody", "correct: horse")]:
            answer = requests.get(base + "/f.txt", auth=make(user, password))
            assert answer.status_code == 401, answer
        print("done")
        """

    @Test(
        "Python's requests logs in, and is refused with wrong credentials",
        arguments: ["basic", "digest"])
    func python(_ scheme: String) async throws {
        let server = try await server(scheme)
        let python = try await Program.python(having: "requests")
        let base = "http://127.0.0.1:\(server.port)"
        let result = try await Program.run(python, ["-c", Self.requests, scheme, base])
        #expect(result.text == "done\n", "\(result.complaints)")
    }

    /// Another implementation of RFC 7616, with hashlib, that can do each step wrong.
    private static let steps = """
        import sys, hashlib, http.client, re
        port, algorithm = int(sys.argv[1]), sys.argv[2]
        hash = lambda text: (hashlib.md5 if algorithm == "MD5" else hashlib.sha256)(
            text.encode()).hexdigest()
        def ask(method, target, field=None):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request(method, target, headers={"Authorization": field} if field else {})
            answer = connection.getresponse()
            answer.read()
            return answer
        def challenge(answer):
            fields = answer.headers.get_all("WWW-Authenticate")
            [field] = [field for field in fields if "algorithm=" + algorithm + "," in field]
            return dict(re.findall(r'(\\w+)="?([^",]*)', field))
        def digest(given, user="ann", password="correct: horse", realm=None, nonce=None,
                   method="GET", uri="/f.txt", nc=1):
            realm, nonce = realm or given["realm"], nonce or given["nonce"]
            a1, a2 = hash(f"{user}:{realm}:{password}"), hash(f"{method}:{uri}")
            response = hash(f"{a1}:{nonce}:{nc:08x}:zzz:auth:{a2}")
            return (f'Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{uri}", '
                    f'response="{response}", algorithm={algorithm}, qop=auth, nc={nc:08x}, '
                    f'cnonce="zzz", opaque="{given["opaque"]}"')
        given = challenge(ask("GET", "/f.txt"))
        def expect(status, stale, field, method="GET", target="/f.txt"):
            answer = ask(method, target, field)
            assert answer.status == status, (answer.status, field)
            if status == 401: assert ("stale" in challenge(answer)) == stale, field
        expect(200, False, digest(given))
        expect(401, True, digest(given))
        expect(200, False, digest(given, nc=2))
        expect(401, True, digest(given, nc=1))
        expect(401, False, digest(given, user="nobody", nc=3))
        expect(401, False, digest(given, password="wrong", nc=3))
        expect(401, False, digest(given, realm="elsewhere", nc=3))
        expect(401, True, digest(given, nonce="0" * 64, nc=3))
        expect(401, True, digest(given, nonce="x", nc=3))
        expect(400, False, digest(given, uri="/", nc=3))
        expect(400, False, digest(given, nc=3), target="/f.txt?a")
        expect(401, False, digest(given, nc=3), method="HEAD")
        expect(401, False, digest(given, nc=3), method="DELETE")
        expect(200, False, digest(given, nc=3, method="HEAD"), method="HEAD")
        expect(200, False, digest(given, nc=4))
        print("done")
        """

    @Test("Digest credentials with any wrong step are refused", arguments: ["SHA-256", "MD5"])
    func steps(_ algorithm: String) async throws {
        let server = try await server("digest")
        let python = try Program.find("python3")
        let result = try await Program.run(
            python, ["-c", Self.steps, "\(server.port)", algorithm])
        #expect(result.text == "done\n", "\(result.complaints)")
    }

    // MARK: Browser

    @Test("Chromium logs in with credentials in the address", arguments: ["basic", "digest"])
    func browser(_ scheme: String) async throws {
        let server = try await server(scheme, "--access-log")
        let address = "127.0.0.1:\(server.port)/echo?q=a%20b"
        let page = try await Browser().run(
            "--dump-dom", "http://ann:correct%3A%20horse@\(address)")
        #expect(page.text.contains("\"method\":\"GET\""), "\(page.text)")
        let expected = scheme == "basic" ? "Basic YW5uOmNvcnJlY3Q6IGhvcnNl" : "Digest username="
        #expect(page.text.contains(expected))
        #expect(await server.waitForComplaint("127.0.0.1 - ann ["))
    }

    @Test(
        "A page that has logged in sends 40 requests from Chromium", arguments: ["basic", "digest"])
    func browserRequests(_ scheme: String) async throws {
        let folder = try Folder()
        try folder.write(
            """
            <!doctype html><meta charset="utf-8"><pre id="result"></pre><script>
            Promise.all([...Array(40).keys()].map(async number => {
                const method = number % 4 == 0 ? "PUT" : "GET";
                const body = method == "PUT" ? "x".repeat(number * 1000) : undefined;
                const answer = await fetch(location.origin + "/echo?n=" + number, {method, body});
                return answer.status + ":" + (await answer.json()).method;
            })).then(answers => {
                document.getElementById("result").textContent = answers.join(" ");
            });
            </script>
            """, to: "page.html")
        let server = try await ServeProcess(
            folder, ["--auth", scheme, "--user", "ann:pass", "--echo", "/echo"])
        // Requests of a page use the credentials of the login, not of the page's address.
        let page = try await Browser().run(
            "--dump-dom", "http://ann:pass@127.0.0.1:\(server.port)/page.html")
        let expected = (0..<40).map { $0 % 4 == 0 ? "200:PUT" : "200:GET" }.joined(separator: " ")
        #expect(page.text.contains("<pre id=\"result\">\(expected)</pre>"), "\(page.text)")
    }

    // MARK: The command line

    @Test(
        "Invalid combinations of options are reported with status 64",
        arguments: [
            (["--auth", "basic"], "--auth basic needs a --user"),
            (["--auth", "digest"], "--auth digest needs a --user"),
            (["--user", "a:b"], "--user needs --auth basic or digest"),
            (["--auth", "none", "--user", "a:b"], "--user needs --auth basic or digest"),
            (["--realm", "x"], "--realm needs --auth basic or digest"),
            (["--auth", "basic", "--user", "a"], "--user takes NAME:PASSWORD"),
            (["--auth", "basic", "--user", ":b"], "--user takes NAME:PASSWORD"),
            (["--auth", "basic", "--user", "a:b\u{1}"], "--user takes NAME:PASSWORD"),
            (["--auth", "basic", "--user", "a:"], "the password is empty"),
            (["--auth", "basic", "--user", "a:b", "--user", "a:c"], "names a twice"),
            (["--auth", "basic", "--user", "a:b", "--realm", "a\nb"], "--realm takes a text"),
            (["--auth", "strange", "--user", "a:b"], "--auth"),
        ])
    func usage(_ flags: [String], _ complaint: String) async throws {
        let result = try await Program.run(Program.httpkit, ["serve", "--port", "0"] + flags)
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.complaints.contains(complaint), "\(result.complaints)")
    }

    @Test("serve accepts several users or none, and challenges with its realm")
    func users() async throws {
        let folder = try Folder()
        try folder.write("content\n", to: "f.txt")
        let server = try await ServeProcess(
            folder, ["--auth", "basic", "--user", "a:b", "--user", "b:c:d", "--realm", "Here"])
        for user in ["a:b", "b:c:d"] {
            #expect(try await server.curl("-u", user, path: "/f.txt").text == "content\n")
        }
        let refused = try await server.curl("-i", path: "/f.txt").text
        #expect(refused.hasPrefix("HTTP/1.1 401 "))
        #expect(
            refused.contains("\r\nWWW-Authenticate: Basic realm=\"Here\", charset=\"UTF-8\"\r\n"))
        let open = try await ServeProcess(folder, ["--auth", "none"])
        #expect(try await open.curl(path: "/f.txt").text == "content\n")
        let standard = try await ServeProcess(folder, ["--auth", "basic", "--user", "a:b"])
        #expect(
            try await standard.curl("-i").text.contains("realm=\"swift-http-toolkit\""))
    }
}
