import ArgumentParser
internal import ToolkitSystem

/// The command line of the toolkit; each subcommand has a separate file.
@main
struct HTTPKit: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "httpkit",
        abstract:
            "Serve folders over HTTP, test clients, and parse messages with a strict parser.",
        discussion: """
            Data goes to standard output, one JSON object or one address per line; logs and \
            error messages go to standard error.
            """,
        version: version,
        subcommands: [
            ServeCommand.self, BinCommand.self, FetchCommand.self, BenchCommand.self,
            ParseCommand.self,
        ]
    )

    static func main() async {
        StandardStreams.reserve()
        do throws(ServeArguments.Fault) {
            let arguments = FetchArguments.complete(Array(CommandLine.arguments.dropFirst()))
            await main(try ServeArguments.complete(arguments, Syscalls.environment))
        } catch {
            fail(error.description)
        }
    }
}
