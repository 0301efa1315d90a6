import ArgumentParser

/// What becomes of the response.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "Write the content to this file, which appears when it is whole.", valueName: "file"))
    var file: String?

    @Flag(name: .customShort("i"), help: "Print the head of the response before its content.")
    var includesHead = false

    @Flag(
        help: ArgumentHelp(
            "Go on where an earlier call stopped, and keep what is there when this one does.",
            discussion: """
                What has to be known for that is kept in FILE.resume until FILE is whole: the file of \
                -o, or that of -T. A file is sent on where the server has resumable uploads.
                """
        ))
    var resume = false

    @Flag(help: "Print what each transaction has taken, in JSON, on standard error.")
    var metrics = false

    @Flag(help: "Show no progress, which is shown on terminals only.")
    var noProgress = false
}
