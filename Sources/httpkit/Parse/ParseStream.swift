import HTTPParser

/// Standard input as one stream of messages, printed event by event.
enum ParseStream {
    /// Reads to the end of the input.
    /// - Returns: whether all of it was well-formed.
    static func run<Parser: MessageParser & ~Copyable>(
        _ reader: consuming MessageReader<Parser>
    ) throws -> Bool {
        var printer = EventPrinter(reader)
        var input = StandardInput()
        var output = ByteBuffer()
        var isClean = true
        // Bytes after an error have no meaning, so the rest of the input is not read.
        while isClean, try input.read({ isClean = printer.take($0, into: &output) }) {
            try StandardOutput.write(&output)
        }
        if isClean { isClean = printer.finish(into: &output) }
        try StandardOutput.write(&output)
        return isClean
    }
}

/// Turns pieces of a stream into lines of events.
struct EventPrinter<Parser: MessageParser & ~Copyable>: ~Copyable {
    private var reader: MessageReader<Parser>
    private var hasStopped = false

    init(_ reader: consuming MessageReader<Parser>) {
        self.reader = reader
    }

    /// Prints the events that a piece completes; `false` after an error.
    mutating func take(_ bytes: Span<UInt8>, into output: inout ByteBuffer) -> Bool {
        reader.append(bytes)
        return guarded(&output) { (printer, output) throws(HTTPParseError) in
            try printer.drain(into: &output)
        }
    }

    /// Prints the events that the end of the input completes; `false` after an error.
    mutating func finish(into output: inout ByteBuffer) -> Bool {
        guarded(&output) { (printer, output) throws(HTTPParseError) in
            try printer.reader.finish()
            try printer.drain(into: &output)
        }
    }

    private mutating func guarded(
        _ output: inout ByteBuffer,
        _ body: (inout Self, inout ByteBuffer) throws(HTTPParseError) -> Void
    ) -> Bool {
        do {
            try body(&self, &output)
            return true
        } catch {
            output.append(error: error)
            return false
        }
    }

    private mutating func drain(into output: inout ByteBuffer) throws(HTTPParseError) {
        while let event = try reader.next() { output.append(event: event) }
        guard let reason = reader.stopReason else { return }
        if !hasStopped { output.append(stop: reason) }
        hasStopped = true
        let rest = reader.takeRest()
        if !rest.isEmpty { output.append(rest: rest) }
    }
}

extension ByteBuffer {
    /// Adds the line of an event.
    mutating func append(event: MessageEvent) {
        switch event {
        case .interim(let head):
            append(literal: "{\"event\":\"interim\",")
            append(startLine: head.startLine)
            append(versionAndFields: head)
        case .head(let head):
            append(literal: "{\"event\":\"head\",")
            append(startLine: head.startLine)
            append(versionAndFields: head)
            append(framing: head.framing)
            append(persistence: head)
        case .content(let bytes):
            append(literal: "{\"event\":\"content\",\"bytes\":")
            append(base64: bytes)
        case .end(let trailers):
            append(literal: "{\"event\":\"end\",\"trailers\":")
            append(fields: trailers)
        }
        append(literal: "}\n")
    }

    fileprivate mutating func append(stop reason: StopReason) {
        append(literal: "{\"event\":\"stop\",\"reason\":")
        append(json: reason.rawValue)
        append(literal: "}\n")
    }

    fileprivate mutating func append(rest: [UInt8]) {
        append(literal: "{\"event\":\"rest\",\"bytes\":")
        append(base64: rest)
        append(literal: "}\n")
    }

    fileprivate mutating func append(error: HTTPParseError) {
        append(literal: "{\"event\":\"error\",\"kind\":")
        append(json: error.kind.rawValue)
        append(literal: ",\"offset\":")
        append(decimal: Int64(error.offset))
        append(literal: ",\"reason\":")
        append(json: error.reason)
        append(literal: "}\n")
    }
}
