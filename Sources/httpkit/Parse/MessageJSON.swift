import HTTPParser

extension ByteBuffer {
    /// Adds fields as `[[name,value],...]`.
    mutating func append(fields: [ParsedField]) {
        append(array: fields) { text, field in
            text.append(UInt8(ascii: "["))
            text.append(json: field.name)
            text.append(UInt8(ascii: ","))
            text.append(json: field.value)
            text.append(UInt8(ascii: "]"))
        }
    }

    /// Adds the members that differ between requests and responses, followed by a comma.
    mutating func append(startLine: ParsedHead.StartLine) {
        switch startLine {
        case .request(let method, let target):
            append(literal: "\"method\":")
            append(json: method)
            append(literal: ",\"target\":")
            append(json: target)
        case .response(let status, let reason):
            append(literal: "\"status\":")
            append(decimal: Int64(status))
            append(literal: ",\"reason\":")
            append(json: reason)
        }
        append(UInt8(ascii: ","))
    }

    /// Adds version and fields.
    mutating func append(versionAndFields head: ParsedHead) {
        append(literal: "\"version\":\"1.")
        append(decimal: Int64(head.minorVersion))
        append(literal: "\",\"fields\":")
        append(fields: head.fields)
    }

    /// Adds the framing, with a comma before it.
    mutating func append(framing: FramingWord) {
        append(literal: ",\"framing\":\"")
        append(framing.rawValue)
        append(UInt8(ascii: "\""))
    }

    /// Adds whether the connection persists or is upgraded, with a comma before it.
    mutating func append(persistence head: ParsedHead) {
        append(literal: ",\"keepAlive\":")
        append(json: head.isPersistent)
        append(literal: ",\"upgrade\":")
        append(json: head.isUpgrade)
    }
}
