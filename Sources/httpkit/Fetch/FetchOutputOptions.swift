import ArgumentParser

/// Where the response goes.
struct FetchOutputOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the content to this file, which appears once it is complete.", valueName: "file")
    )
    var file: String?

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
        help: "Show what goes over the connection on standard error, passwords included.")
    var isVerbose = false

    @Flag(
        name: [.customShort("s"), .customLong("silent")],
        help: "Show neither progress nor messages; the exit status tells.")
    var isSilent = false

    @Flag(
        name: [.customShort("S"), .customLong("show-error")],
        help: "With -s, show messages all the same.")
    var showsErrors = false

    @Flag(
        name: [.customShort("f"), .customLong("fail")],
        help: "For command lines of curl: 4xx and 5xx are exit status 22 in any case.")
    var fails = false

    @Flag(
        help: ArgumentHelp(
            "Resume an interrupted download, and keep a partial one when this call is interrupted.",
            discussion: """
                What has to be known for that is kept in FILE.resume until FILE is whole: the file of \
                -o, or that of -T. The part of a download is a hidden file beside it; a call that was \
                killed has left both. A FILE that an earlier call with this flag has made whole is kept, with \
                a message, if the server still has the same: that takes an entity tag, and a file \
                system with extended attributes. Otherwise it is fetched again. A file is sent on where the server has resumable uploads.
                """
        ))
    var resume = false

    @Flag(help: "Print the timing of each request, redirects included, as JSON on standard error.")
    var metrics = false

    @Flag(
        help: ArgumentHelp(
            "Print each message of a WebSocket as a line of JSON.",
            discussion: """
                A message is {"text":"..."}, or {"base64":"..."} where it is bytes. Without this flag \
                it is printed as it is, so that one with line breaks in it looks like several.
                """))
    var jsonMessages = false

    /// Whether the content goes elsewhere than to standard output, or is measured.
    var keeps: Bool { file != nil || resume || metrics }

    @Flag(help: "Do not show progress (shown on terminals only).")
    var noProgress = false

    /// One line on standard error, unless it is silent.
    func complain(_ message: String) {
        if !isSilent || showsErrors { warn(message) }
    }
}
