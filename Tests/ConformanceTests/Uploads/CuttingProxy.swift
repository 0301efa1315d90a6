import Foundation
import TestSupport

/// The size of uploads and the number of times that the server is killed, if the environment sets
/// them: `UPLOAD_MIB` and `UPLOAD_KILLS`.
enum UploadScale {
    static var mebibytes: Int? { number("UPLOAD_MIB") }
    static var kills: Int? { number("UPLOAD_KILLS") }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}

/// A program between client and server that cuts each connection after a number of bytes from
/// the client, a limited number of times. The process is killed when the object is released.
final class CuttingProxy: Sendable {
    let port: UInt16
    private let program: RunningProgram
    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "cutting_proxy.py").path

    /// - Parameters:
    ///   - server: the port of the server.
    ///   - every: the bytes after which a connection is cut.
    ///   - cuts: the number of cuts.
    ///   - room: the number of bytes that may wait for the server here; 0 for the system's buffers,
    ///     which have megabytes, more than a network does.
    init(to server: UInt16, every: Int, cuts: Int, room: Int = 0) async throws {
        program = try RunningProgram(
            try Program.find("python3"),
            [Self.script, "\(server)", "\(every)", "\(cuts)", "\(room)"])
        guard await program.wait(until: { $0.text.contains("\n") }),
            let line = program.text.split(separator: "\n").first,
            let port = line.split(separator: " ").last.flatMap({ UInt16($0) })
        else { throw Program.Failure("the proxy does not start: \(program.complaints)") }
        self.port = port
    }

    /// The number of bytes from the client on closed connections, and the number of remaining cuts.
    var counts: (passed: Int, left: Int)? {
        let lines = program.text.split(separator: "\n").filter { $0.hasPrefix("passed") }
        let words = lines.last?.split(separator: " ") ?? []
        guard words.count == 4, let passed = Int(words[1]), let left = Int(words[3]) else {
            return nil
        }
        return (passed, left)
    }
}
