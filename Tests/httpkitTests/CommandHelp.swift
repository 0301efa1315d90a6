import Foundation
import TestSupport
import Testing

/// The arguments of a command, as the program itself reports them.
struct CommandHelp: Decodable {
    struct Name: Decodable {
        var name: String
        var kind: String
    }

    struct Argument: Decodable {
        var kind: String
        var isRepeating: Bool
        var names: [Name]?

        var longNames: [String] { names(of: "long") }
        var letters: [Character] { names(of: "short").map { Character($0) } }

        private func names(of kind: String) -> [String] {
            (names ?? []).filter { $0.kind == kind }.map(\.name)
        }
    }

    struct Command: Decodable {
        var commandName: String
        var arguments: [Argument]?
        var subcommands: [Command]?
    }

    private var command: Command

    static func of(_ command: String) async throws -> [Argument] {
        let dump = try await Program.run(Program.httpkit, ["--experimental-dump-help"])
        let help = try JSONDecoder().decode(CommandHelp.self, from: Data(dump.output))
        return try #require(
            help.command.subcommands?.first { $0.commandName == command }?.arguments)
    }
}
