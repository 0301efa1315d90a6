import Foundation
import TestSupport

/// Runs the built `httpkit` and keeps its output.
struct HTTPKitProcess {
    /// The members of an output line that the tests check.
    struct Line: Decodable {
        struct Message: Decodable { var content: String }

        var event: String?
        var id: Int?
        var result: String?
        var messages: [Message]?
    }

    var status: Int32
    var output: String
    var complaint: String
    var lines: [Line]

    static func run(_ arguments: [String], input: String = "") async throws -> HTTPKitProcess {
        let result = try await Program.run(
            Program.httpkit, arguments, input: Array(input.utf8))
        let decoder = JSONDecoder()
        let lines = result.output.split(separator: UInt8(ascii: "\n")).compactMap {
            try? decoder.decode(Line.self, from: Data($0))
        }
        return HTTPKitProcess(
            status: result.status, output: result.text, complaint: result.complaints, lines: lines)
    }
}
