import HTTPParser

/// One wire test of a document: a heading, a message in a fenced block, and the events expected.
///
///     ## The size of a chunk has digits only
///
///     ```request startLineBytes=40
///     POST / HTTP/1.1\r\n
///     ```
///
///     ```events
///     error invalidChunkSize at 60, status 400
///     ```
///
/// The line breaks of the document have no meaning: those of the message are written as escapes
/// (`Escapes`). These options may follow `request` or `response`, each once or more often:
/// - a limit of `ParserLimits` with its value, such as `fieldCount=2`;
/// - the name of a leniency, such as `bareLineFeed`;
/// - `to=HEAD,GET`: the methods of the requests that get the responses;
/// - `closes`: the input ends after the message.
public struct Transcript: Sendable, CustomStringConvertible {
    /// The name of the document and the heading of the case.
    public var description: String
    /// How the message is fed.
    public var setup: WireSetup
    /// The message.
    public var bytes: [UInt8]
    /// The events, as `WireEvent` prints them.
    public var expected: String

    /// The cases of a document.
    public static func cases(
        of document: String, named name: String
    ) throws(TranscriptError) -> [Transcript] {
        var reader = TranscriptReader(name: name)
        let lines = document.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            try reader.read(line, number: index + 1)
        }
        return try reader.finish()
    }
}

/// A document that does not have the format of `Transcript`.
public struct TranscriptError: Error, CustomStringConvertible {
    /// The fault and its line.
    public let description: String
}

struct TranscriptReader {
    private enum Place { case text, message, events }

    let name: String
    private var place = Place.text
    private var heading = ""
    private var setup: WireSetup?
    private var bytes: [UInt8] = []
    private var expected: [Substring] = []
    private var cases: [Transcript] = []
    private var number = 0

    init(name: String) {
        self.name = name
    }

    mutating func read(_ line: Substring, number: Int) throws(TranscriptError) {
        self.number = number
        switch place {
        case .text: try readText(line)
        case .message where line == "```", .events where line == "```": try closeFence()
        case .message:
            guard let piece = Escapes.bytes(line) else { throw error("unknown escape") }
            bytes += piece
        case .events: expected.append(line)
        }
    }

    func finish() throws(TranscriptError) -> [Transcript] {
        guard place == .text, setup == nil else { throw error("a case is not complete") }
        guard !cases.isEmpty else { throw error("no cases") }
        return cases
    }

    private mutating func readText(_ line: Substring) throws(TranscriptError) {
        if line.hasPrefix("## ") {
            guard setup == nil else { throw error("no events for '\(heading)'") }
            heading = String(line.dropFirst(3))
        } else if line == "```events" {
            guard setup != nil else { throw error("events without a message") }
            place = .events
        } else if line.hasPrefix("```") {
            guard setup == nil, !heading.isEmpty else { throw error("a message out of place") }
            setup = try options(line.dropFirst(3))
            place = .message
        }
    }

    private mutating func closeFence() throws(TranscriptError) {
        let wasMessage = place == .message
        place = .text
        guard !wasMessage, let setup else { return }
        cases.append(
            Transcript(
                description: "\(name): \(heading)", setup: setup, bytes: bytes,
                expected: expected.joined(separator: "\n")))
        self.setup = nil
        bytes = []
        expected = []
    }

    private func options(_ line: Substring) throws(TranscriptError) -> WireSetup {
        var words = line.split(separator: " ")[...]
        var setup = WireSetup()
        switch words.popFirst() {
        case "request": setup.role = .request
        case "response": setup.role = .response(to: nil)
        default: throw error("neither request nor response")
        }
        for word in words where !setup.apply(word) { throw error("unknown option '\(word)'") }
        return setup
    }

    private func error(_ reason: String) -> TranscriptError {
        TranscriptError(description: "\(name), line \(number): \(reason)")
    }
}

extension WireSetup {
    fileprivate mutating func apply(_ option: Substring) -> Bool {
        switch option {
        case "closes": closes = true
        case "bareLineFeed": leniency.insert(.bareLineFeed)
        case "missingReasonSpace": leniency.insert(.missingReasonSpace)
        case "identicalContentLengths": leniency.insert(.identicalContentLengths)
        case "missingHost": leniency.insert(.missingHost)
        default:
            let parts = option.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return false }
            return apply(parts[0], parts[1])
        }
        return true
    }

    private mutating func apply(_ name: Substring, _ value: Substring) -> Bool {
        if name == "to" {
            let methods = value.split(separator: ",").compactMap { HTTPMethod(String($0)) }
            role = .response(to: methods)
            return true
        }
        guard let number = Int(value) else { return false }
        switch name {
        case "startLineBytes": limits.startLineBytes = number
        case "fieldLineBytes": limits.fieldLineBytes = number
        case "fieldSectionBytes": limits.fieldSectionBytes = number
        case "fieldCount": limits.fieldCount = number
        case "contentBytes": limits.contentBytes = Int64(number)
        case "chunkExtensionBytes": limits.chunkExtensionBytes = number
        case "trailerBytes": limits.trailerBytes = number
        case "leadingEmptyLines": limits.leadingEmptyLines = number
        default: return false
        }
        return true
    }
}
