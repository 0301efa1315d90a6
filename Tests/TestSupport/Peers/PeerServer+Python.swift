internal import Foundation

extension PeerServer {
    /// Python's `http.server`: HTTP/1.0, files without ranges.
    /// - Parameter login: whether `/basic/` and `/digest/` are the same files for ``user``.
    package static func python(login: Bool = false) async throws -> PeerServer {
        let program = try Program.find("python3")
        return try await PeerServer(readyFile: "pid") { folder, ports in
            // `python3 -m http.server` writes no file once it listens; this script does.
            let script = """
                import functools, http.server, sys
                \(login ? loginHandler : "Handler = http.server.SimpleHTTPRequestHandler")
                handler = functools.partial(Handler, directory=sys.argv[2])
                server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler)
                open(sys.argv[3], "w").close()
                server.serve_forever()
                """
            return (
                program,
                ["-c", script, "\(ports.0)", folder.path("www"), folder.path("pid")]
            )
        }
    }

    /// RFC 7617 and RFC 7616 (MD5, qop auth) with Python's library.
    private static var loginHandler: String {
        """
        import base64, hashlib, urllib.request
        user, password, realm, nonce = "\(user.name)", "\(user.password)", "tests", "n0nce"
        def md5(text): return hashlib.md5(text.encode()).hexdigest()
        class Handler(http.server.SimpleHTTPRequestHandler):
            def basic(self, rest):
                return base64.b64decode(rest).decode() == user + ":" + password
            def digest(self, rest):
                part = urllib.request.parse_keqv_list(urllib.request.parse_http_list(rest))
                left = md5(user + ":" + realm + ":" + password)
                right = md5(self.command + ":" + self.path)
                middle = [nonce, part["nc"], part["cnonce"], "auth"]
                return (part["uri"] == self.path and part["username"] == user
                    and part["response"] == md5(":".join([left] + middle + [right])))
            def do_GET(self):
                scheme = self.path.split("/")[1]
                sent, _, rest = (self.headers["Authorization"] or "").partition(" ")
                if sent.lower() != scheme or not getattr(self, scheme)(rest):
                    more = ', nonce="' + nonce + '", qop="auth"' if scheme == "digest" else ""
                    self.send_response(401)
                    self.send_header(
                        "WWW-Authenticate", scheme.title() + ' realm="' + realm + '"' + more)
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                self.path = self.path[len(scheme) + 1:]
                super().do_GET()
        """
    }
}
