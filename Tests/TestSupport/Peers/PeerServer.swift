internal import Foundation
internal import HTTPServerCore
import ToolkitSystem

/// A server of another make, with a folder and a configuration of its own. It is killed, and all of
/// it removed, when this object goes.
package final class PeerServer: Sendable {
    /// The port at all of its addresses.
    package let port: UInt16
    /// The next one, for those that listen at two.
    package let secondPort: UInt16
    /// Everything that it has: `www` is what it serves, `log` what it says.
    private let folder: ServerDirectory
    private let program: RunningProgram

    /// Starts a server on a port that was free a moment ago, and tries others when it is not any
    /// more.
    /// - Parameters:
    ///   - readyFile: the name of a file that it writes once it listens.
    ///   - command: writes the configuration into the folder; gives the program and its arguments.
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

    /// Workers may run as somebody else.
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
    /// gives none so low.
    package static let deadPort: UInt16 = 1

    /// A port that nobody listens at now.
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

    // MARK: What tests need

    /// The path of something below what it serves.
    package func file(_ name: String) -> String { folder.path("www/\(name)") }

    /// Writes a file that it then serves.
    package func write(_ content: [UInt8], to name: String) throws {
        try Data(content).write(to: URL(fileURLWithPath: file(name)))
    }

    /// The content of a file below what it serves; nil when there is none.
    package func content(of name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(fileURLWithPath: file(name)))).map { Array($0) }
    }

    /// What it has logged so far, a line for each request.
    package var log: String { Self.text(folder.path("log")) }

    /// Waits until the log has a text: a request is logged when it is over, which the client of a
    /// tunnel may know before.
    package func waitForLog(_ text: String) async -> Bool {
        await program.wait { _ in log.contains(text) }
    }

    /// What it has written to standard error.
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
