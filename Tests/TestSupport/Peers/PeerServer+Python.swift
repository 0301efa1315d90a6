internal import Foundation

extension PeerServer {
    /// Python's `http.server`: HTTP/1.0, files without ranges.
    package static func python() async throws -> PeerServer {
        let program = try Program.find("python3")
        return try await PeerServer(readyFile: "pid") { folder, ports in
            // The program says that it listens by a line that has to be waited for elsewhere.
            let script = """
                import functools, http.server, sys
                handler = functools.partial(
                    http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
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
}
