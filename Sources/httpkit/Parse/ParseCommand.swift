import ArgumentParser
import HTTPParser

/// `httpkit parse`: bytes in, events out as JSON lines.
struct ParseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parse",
        abstract: "Parse HTTP messages on standard input and print their events.",
        discussion: """
            Reads requests, or responses with --response, and prints each event as one line of \
            JSON as soon as it is known: "head", "interim", "content" (bytes in base64), "end", \
            "stop" and "rest" when the connection changes its protocol or closes, and "error" with \
            kind, offset and reason.

            With --batch each line of input is a separate case, \
            {"id":...,"kind":"request"|"response","bytes":BASE64}, and each line of output its \
            outcome, in the same order. A case may also have "requestMethods":[...], the methods \
            of the requests that the responses answer, and "limits":{...} with any of maxFields, \
            maxHeadBytes, maxContentBytes, maxTargetBytes, maxTrailerBytes and maxChunkLineBytes. \
            An invalid line gives the result "error" and does not end the run.

            The exit status is 1 when the messages, or with --batch any line of input, are \
            ill-formed, and 23 when the input cannot be read or the output not written.
            """
    )

    @Flag(help: "Read responses to GET requests; in a batch, cases without a kind are responses.")
    var response = false

    @Flag(help: "Read one case per line and print one outcome per line.")
    var batch = false

    func run() throws {
        do {
            guard try isClean() else { throw ExitCode.failure }
        } catch let error as StreamError {
            warn("\(error)")
            throw ExitCode(23)
        }
    }

    /// Whether all of the input was well-formed.
    private func isClean() throws -> Bool {
        switch (batch, response) {
        case (true, _):
            try ParseBatch.run(defaultKind: response ? .response : .request)
        case (false, true):
            try ParseStream.run(MessageReader(ResponseParser()))
        case (false, false):
            try ParseStream.run(MessageReader(RequestParser()))
        }
    }
}
