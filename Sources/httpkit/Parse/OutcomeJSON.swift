import HTTPParser

extension ByteBuffer {
    /// Appends the output line of an outcome.
    mutating func append(_ outcome: CaseOutcome, id: CaseID) {
        append(literal: "{\"id\":")
        append(id: id)
        append(literal: ",\"result\":")
        append(json: outcome.result.rawValue)
        append(literal: ",\"messages\":")
        append(array: outcome.messages) { $0.append(message: $1) }
        append(literal: ",\"rest\":")
        append(base64: outcome.rest)
        append(literal: ",\"error\":")
        append(caseError: outcome.error)
        append(literal: "}\n")
    }

    /// Appends the output line for an input line that is not a case, in the same form.
    mutating func append(_ fault: CaseFault, line: Int) {
        append(literal: "{\"id\":")
        append(id: fault.id)
        append(literal: ",\"result\":\"error\",\"messages\":[],\"rest\":\"\",")
        append(literal: "\"error\":{\"kind\":\"invalidCase\",\"line\":")
        append(decimal: Int64(line))
        append(literal: ",\"reason\":")
        append(json: fault.reason)
        append(literal: "}}\n")
    }

    private mutating func append(id: CaseID) {
        switch id {
        case .null: append(literal: "null")
        case .text(let text): append(json: text)
        case .number(let digits): append(digits)
        }
    }

    private mutating func append(message: ParsedMessage) {
        append(UInt8(ascii: "{"))
        append(startLine: message.head.startLine)
        if message.head.reason != nil {
            append(literal: "\"interim\":")
            append(array: message.interim) { $0.append(decimal: Int64($1)) }
            append(UInt8(ascii: ","))
        }
        append(versionAndFields: message.head)
        append(framing: message.head.framing)
        append(literal: ",\"content\":")
        append(base64: message.content)
        append(literal: ",\"trailers\":")
        append(fields: message.trailers)
        append(persistence: message.head)
        append(UInt8(ascii: "}"))
    }

    private mutating func append(caseError error: HTTPParseError?) {
        guard let error else { return append(literal: "null") }
        append(literal: "{\"kind\":")
        append(json: error.kind.rawValue)
        append(literal: ",\"offset\":")
        append(decimal: Int64(error.offset))
        append(literal: ",\"status\":")
        append(decimal: Int64(error.suggestedStatus.code))
        append(UInt8(ascii: "}"))
    }
}
