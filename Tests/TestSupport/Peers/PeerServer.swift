internal import Foundation
internal import HTTPServerCore
import ToolkitSystem

/// A server of another project, with a separate folder and configuration. It is killed, and its
/// folder removed, when this object is released.
package final class PeerServer: Sendable {
    /// The port at all of its addresses.
    package let port: UInt16
    /// The second port of servers that listen at two.
    package let secondPort: UInt16
    /// Its files: `www` has the served files, `log` is its log.
    private let folder: ServerDirectory
    private let program: RunningProgram

    /// Starts a server on a port that was free just before, and tries other ports when another
    /// program has taken it.
    /// - Parameters:
    ///   - readyFile: the name of a file that it writes once it listens.
    ///   - command: writes the configuration into the folder; returns program and arguments.
    init(
        readyFile: String,
        command: (_ folder: ServerDirectory, _ ports: (UInt16, UInt16)) throws -> (
            program: String, arguments: [String]
        )
    ) async throws {
        var complaints = ""
        for _ in 0..<8 {
            let folder = try ServerDirectory()
            try Self.makeFolders(folder)
            let ports = (try Self.freePort(), try Self.freePort())
            let (path, arguments) = try command(folder, ports)
            let program = try RunningProgram(path, arguments, isGroup: true)
            let manager = FileManager.default
            let isReady = await program.wait { _ in
                manager.fileExists(atPath: folder.path(readyFile))
            }
            if isReady, program.isRunning {
                (self.folder, self.program) = (folder, program)
                (port, secondPort) = ports
                return
            }
            complaints = program.complaints + Self.text(folder.path("error"))
        }
        throw Program.Failure("a server does not start: \(complaints)")
    }

    /// Makes folders that all users can write, because workers may run as another user.
    private static func makeFolders(_ folder: ServerDirectory) throws {
        let manager = FileManager.default
        for name in ["www", "www/dav", "temp"] {
            try manager.createDirectory(
                atPath: folder.path(name), withIntermediateDirectories: true)
        }
        for name in ["", "www", "www/dav", "temp"] {
            try manager.setAttributes(
                [.posixPermissions: 0o777], ofItemAtPath: folder.path(name))
        }
    }

    /// A port without a listener: the servers of other tests get their ports from the system, which
    /// assigns none this low.
    package static let deadPort: UInt16 = 1

    /// A port that has no listener now.
    private static func freePort() throws -> UInt16 {
        let listener = try Listener.bind(host: "127.0.0.1", port: 0, backlog: 1)
        guard let port = listener.first?.address.port else {
            throw Program.Failure("no port is free")
        }
        return port
    }

    static func isFile(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    static func text(_ path: String) -> String {
        (try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)) ?? ""
    }

    // MARK: Use by tests

    /// The path of a served file.
    package func file(_ name: String) -> String { folder.path("www/\(name)") }

    /// Writes a file, which is then served.
    package func write(_ content: [UInt8], to name: String) throws {
        try Data(content).write(to: URL(fileURLWithPath: file(name)))
    }

    /// The content of a served file; nil if it does not exist.
    package func content(of name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(fileURLWithPath: file(name)))).map { Array($0) }
    }

    /// Its log so far, one line per request.
    package var log: String { Self.text(folder.path("log")) }

    /// Waits until the log contains a text. A request is logged after its end, which the client of
    /// a tunnel may see earlier.
    package func waitForLog(_ text: String) async -> Bool {
        await program.wait { _ in log.contains(text) }
    }

    /// Its standard error so far.
    package var complaints: String { program.complaints }

    /// The address of a path that is percent-encoded already.
    package func url(
        _ path: String, scheme: String = "http", host: String = "127.0.0.1"
    ) -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    /// Stops it at once; nothing listens at its port then.
    package func kill() async {
        program.signal(SIGKILL)
        _ = await program.end()
    }
}
