import ArgumentParser

/// Where the response goes.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "Write the content to this file, which appears once it is complete.", valueName: "file")
    )
    var file: String?

    @Flag(name: .customShort("i"), help: "Print the head of the response before its content.")
    var includesHead = false

    @Flag(
        help: ArgumentHelp(
            "Resume an interrupted download, and keep a partial one when this call is interrupted.",
            discussion: """
                What has to be known for that is kept in FILE.resume until FILE is whole: the file of \
                -o, or that of -T. A file is sent on where the server has resumable uploads.
                """
        ))
    var resume = false

    @Flag(help: "Print the timing of each request, redirects included, as JSON on standard error.")
    var metrics = false

    /// Whether the content goes elsewhere than to standard output, or is measured.
    var keeps: Bool { file != nil || resume || metrics }

    @Flag(help: "Do not show progress (shown on terminals only).")
    var noProgress = false
}
