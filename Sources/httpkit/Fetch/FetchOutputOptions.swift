import ArgumentParser

/// Where the response goes.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the content to this file, which appears once it is complete; - is standard output.",
            valueName: "file"))
    private var name: String?

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write the content to a file here with the last name in the URL's path.")
    var hasRemoteName = false

    @Flag(
        name: [.customShort("i"), .customLong("include")],
        help: "Print the head of the response before its content.")
    var includesHead = false

    @Flag(
        name: [.customShort("v"), .customLong("verbose")],
        help: "Show the traffic of the connection on standard error, including passwords.")
    var isVerbose = false

    @Flag(
        name: [.customShort("s"), .customLong("silent")],
        help: "Show neither progress nor messages; only the exit status reports errors.")
    var isSilent = false

    @Flag(
        name: [.customShort("S"), .customLong("show-error")],
        help: "With -s, show messages nevertheless.")
    var showsErrors = false

    @Flag(
        name: [.customShort("f"), .customLong("fail")],
        help: "Accepted for command lines of curl; 4xx and 5xx always have exit status 22.")
    var fails = false

    @Flag(
        help: ArgumentHelp(
            "Resume an interrupted download, and keep a partial one when this call is interrupted.",
            discussion: """
                FILE is the file of -o or -T. The state is kept in FILE.resume until FILE is \
                complete; a partial download is in a hidden file next to it. Both stay if the \
                process is killed. A FILE that an earlier call with this flag completed is kept, \
                with a message, if the server's copy is unchanged. This needs an entity tag and \
                extended attributes; otherwise FILE is fetched again. An upload resumes if the \
                server supports resumable uploads.
                """
        ))
    var resume = false

    @Flag(help: "Print the timing of each request, redirects included, as JSON on standard error.")
    var metrics = false

    @Flag(
        help: ArgumentHelp(
            "Print each message of a WebSocket as a line of JSON.",
            discussion: """
                A message is {"text":"..."}, or {"base64":"..."} for bytes. Without this flag a \
                message is printed unchanged, so a message with line breaks looks like several.
                """))
    var jsonMessages = false

    /// The file of -o or -O; `nil` for standard output.
    var file: String? {
        get { name == "-" ? nil : name }
        set { name = newValue == "-" ? "./-" : newValue }
    }

    /// Whether the content goes elsewhere than to standard output, or is measured.
    var keeps: Bool { file != nil || hasRemoteName || resume || metrics }

    @Flag(help: "Do not show progress (shown on terminals only).")
    var noProgress = false

    var showsMessages: Bool { !isSilent || showsErrors }

    /// Writes one line on standard error, unless messages are off.
    func complain(_ message: String) {
        if showsMessages { warn(message) }
    }
}
