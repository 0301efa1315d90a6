/// The next step of a broken server.
enum TortureStep: Sendable {
    /// Sends bytes in one write.
    case send([UInt8])
    /// Sends bytes one by one, with a pause before each.
    case drip([UInt8], pause: Duration)
    /// Sends the same bytes `times` times, as fast as the client reads them.
    case flood([UInt8], times: Int)
    /// Does nothing for a while.
    case pause(Duration)
    /// Does nothing until the client gives up.
    case wait
    /// Waits for the next request on the connection, and answers it with the following steps.
    case nextRequest
    /// Ends the connection by a reset (RFC 9293 section 3.5.2), after the bytes that were sent.
    case reset
    /// Keeps the connection, and serves its next request by the path of that request.
    case keepOpen

    static func send(_ text: String) -> Self { .send(Array(text.utf8)) }

    /// A head, as lines without line ends, followed by content.
    static func message(_ lines: [String], _ content: [UInt8] = []) -> Self {
        .send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + content)
    }

    /// A response of 200 with fields and content; the length is not written.
    static func ok(_ fields: [String], _ content: String = "") -> Self {
        .message(["HTTP/1.1 200 OK"] + fields, Array(content.utf8))
    }

    /// A whole response of 200.
    static func whole(_ content: String = "whole\n", _ fields: [String] = []) -> Self {
        .ok(fields + ["Content-Length: \(content.utf8.count)"], content)
    }
}

/// One way of answering, by its path. When its steps are done, the connection is closed.
struct TortureCase: Sendable {
    /// The path without its slash.
    var name: String
    /// The description in the index.
    var text: String
    var steps: [TortureStep]

    init(_ name: String, _ text: String, _ steps: TortureStep...) {
        (self.name, self.text, self.steps) = (name, text, steps)
    }
}
