import Foundation
import TestSupport

/// A program between client and server that cuts connections: each after so many bytes of the
/// client's, as often as it is told. It is killed when it goes.
final class CuttingProxy: Sendable {
    let port: UInt16
    private let program: RunningProgram

    private static let script = """
        import socket, sys, threading

        server, every, cuts = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
        lock = threading.Lock()
        passed = 0

        def cut(sides):
            for side in sides:
                try: side.shutdown(socket.SHUT_RDWR)
                except OSError: pass

        def forward(source, target, sides, limit):
            global cuts, passed
            count = 0
            try:
                while True:
                    data = source.recv(65536)
                    if not data: break
                    target.sendall(data)
                    count += len(data)
                    if limit and count >= limit:
                        with lock: is_cut = cuts > 0; cuts -= is_cut
                        if is_cut: break
                        limit = 0
            except OSError: pass
            if limit is not None:
                with lock:
                    passed += count
                    print("passed", passed, "left", cuts, flush=True)
            cut(sides)

        def connect(client):
            upstream = socket.create_connection(("127.0.0.1", server))
            sides = (client, upstream)
            for source, target, limit in (client, upstream, every), (upstream, client, None):
                threading.Thread(
                    target=forward, args=(source, target, sides, limit), daemon=True).start()

        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        print("port", listener.getsockname()[1], flush=True)
        # No socket is kept here: one that was cut is closed.
        while True: connect(listener.accept()[0])
        """

    /// - Parameters:
    ///   - server: the port of the server.
    ///   - every: the bytes after which a connection is cut.
    ///   - cuts: how often.
    init(to server: UInt16, every: Int, cuts: Int) async throws {
        program = try RunningProgram(
            try Program.find("python3"), ["-c", Self.script, "\(server)", "\(every)", "\(cuts)"])
        guard await program.wait(until: { $0.text.contains("\n") }),
            let line = program.text.split(separator: "\n").first,
            let port = line.split(separator: " ").last.flatMap({ UInt16($0) })
        else { throw Program.Failure("the proxy does not start: \(program.complaints)") }
        self.port = port
    }

    /// How many bytes of the client's have passed over connections that are closed, and how many
    /// cuts are left.
    var counts: (passed: Int, left: Int)? {
        let lines = program.text.split(separator: "\n").filter { $0.hasPrefix("passed") }
        let words = lines.last?.split(separator: " ") ?? []
        guard words.count == 4, let passed = Int(words[1]), let left = Int(words[3]) else {
            return nil
        }
        return (passed, left)
    }
}
