internal import HTTPParser
public import HTTPServerCore
internal import ToolkitSystem

/// The format of a line of the access log.
public enum AccessLogFormat: Sendable, Hashable {
    /// The customary line of web servers:
    /// `peer - user [date] "request line" status bytes "referer" "user agent"`.
    case combined
    /// One JSON object a line, with the members `time` (RFC 3339, to the microsecond), `peer`,
    /// `port` (not for Unix sockets), `connection`, `request` (the trace id), `method`, `target`,
    /// `version`, `user`, `status`, `contentBytes`, `receivedBytes`, `seconds`, `referer`,
    /// `userAgent` and `failure`. Members without a value are left out.
    case json

    /// The line of a record, without a line break.
    public func line(of record: AccessRecord) -> String {
        var buffer = ByteBuffer(capacity: 256)
        var clock = LogClock()
        append(record, to: &buffer, &clock)
        return unsafe String(decoding: buffer.unsafeBytes, as: UTF8.self)
    }

    /// Writes the line of a record, without a line break.
    func append(_ record: AccessRecord, to line: inout ByteBuffer, _ clock: inout LogClock) {
        switch self {
        case .combined: appendCombined(record, &line, &clock)
        case .json: appendJSON(record, &line)
        }
    }

    // MARK: Combined

    private func appendCombined(
        _ record: AccessRecord, _ line: inout ByteBuffer, _ clock: inout LogClock
    ) {
        if PlainLine.append(record, to: &line, &clock) { return }
        line.append(host: record.peerAddress)
        line.append(literal: " - ")
        line.append(user: record.request)
        line.append(literal: " [")
        line.append(clock.commonLog(secondsSinceEpoch: record.time / 1_000_000_000))
        line.append(literal: "] \"")
        if let request = record.request {
            line.append(request.method.name)
            line.append(literal: " ")
            unsafe line.append(quoted: request.storage.head.targetBytes)
            line.append(literal: " HTTP/1.")
            line.append(decimal: Int64(request.version.minor))
        } else {
            line.append(literal: "-")
        }
        line.append(literal: "\" ")
        line.append(decimal: Int64(record.status.code))
        line.append(literal: " ")
        line.append(decimal: record.contentBytes)
        line.append(literal: " \"")
        line.append(quotedField: .referer, of: record.request)
        line.append(literal: "\" \"")
        line.append(quotedField: .userAgent, of: record.request)
        line.append(literal: "\"")
    }

    // MARK: JSON

    private func appendJSON(_ record: AccessRecord, _ line: inout ByteBuffer) {
        line.append(literal: "{\"time\":\"")
        line.append(timestamp: record.time)
        line.append(literal: "\",\"peer\":")
        line.append(json: record.peer.host)
        if let port = record.peer.port {
            line.append(literal: ",\"port\":")
            line.append(decimal: Int64(port))
        }
        line.append(literal: ",\"connection\":")
        line.append(decimal: Int64(clamping: record.connection.id))
        if let request = record.request { appendJSON(request, &line) }
        line.append(member: ",\"user\":", record.user)
        line.append(literal: ",\"status\":")
        line.append(decimal: Int64(record.status.code))
        line.append(literal: ",\"contentBytes\":")
        line.append(decimal: record.contentBytes)
        line.append(literal: ",\"receivedBytes\":")
        line.append(decimal: record.receivedBytes)
        line.append(literal: ",\"seconds\":")
        line.append(decimal: Int64(clamping: record.elapsed / 1_000_000_000))
        line.append(literal: ".")
        line.append(digits: Int64(record.elapsed % 1_000_000_000), count: 9)
        line.append(member: ",\"referer\":", record.referer)
        line.append(member: ",\"userAgent\":", record.userAgent)
        line.append(member: ",\"failure\":", record.failure.map { "\($0)" })
        line.append(literal: "}")
    }

    private func appendJSON(_ request: Request, _ line: inout ByteBuffer) {
        line.append(literal: ",\"request\":")
        line.append(json: request.traceID)
        line.append(literal: ",\"method\":")
        line.append(json: request.method.name)
        line.append(literal: ",\"target\":")
        line.append(json: request.originalTarget.text)
        line.append(literal: ",\"version\":\"1.")
        line.append(decimal: Int64(request.version.minor))
        line.append(literal: "\"")
    }
}

/// The date of the combined format, `10/Oct/2000:13:55:36 +0000`, formatted once a second.
package struct LogClock: Sendable {
    private var seconds = Int64.min
    private var text = ""

    mutating func commonLog(secondsSinceEpoch now: Int64) -> String {
        guard now != seconds else { return text }
        seconds = now
        // "Tue, 10 Oct 2000 13:55:36 GMT"
        let words = HTTPDate(secondsSinceEpoch: now).description.split(separator: " ")
        guard words.count == 6 else { return "-" }
        text = "\(words[1])/\(words[2])/\(words[3]):\(words[4]) +0000"
        return text
    }
}

extension ByteBuffer {
    fileprivate mutating func append(host peer: PeerAddress) {
        if let bytes = peer.ipv4Bytes {
            append(decimal: Int64(bytes.0))
            append(literal: ".")
            append(decimal: Int64(bytes.1))
            append(literal: ".")
            append(decimal: Int64(bytes.2))
            append(literal: ".")
            append(decimal: Int64(bytes.3))
        } else {
            append(peer.address.host)
        }
    }

    /// The user, or a hyphen. Spaces are escaped, because they separate the parts of the line.
    fileprivate mutating func append(user request: Request?) {
        guard let name = request?.identity?.name, !name.isEmpty else {
            return append(literal: "-")
        }
        for scalar in name.unicodeScalars {
            if scalar == " " { append(literal: "\\x20") } else { append(quoted: scalar) }
        }
    }

    /// The value of a field, escaped for the quotes around it; a hyphen if it is missing or empty.
    fileprivate mutating func append(quotedField name: HTTPFieldName, of request: Request?) {
        guard let table = unsafe request?.storage.head.table,
            let index = unsafe table.index(of: name), unsafe table.value(index).count > 0
        else { return append(literal: "-") }
        unsafe append(quoted: table.value(index))
    }

    /// Escapes text from a client, so that it cannot end the line or the quotes, or control a
    /// terminal.
    fileprivate mutating func append(quoted bytes: UnsafeRawBufferPointer) {
        let isPlain = unsafe bytes.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C
        }
        if isPlain { return unsafe append(bytes) }
        for scalar in unsafe fieldText(bytes).unicodeScalars { append(quoted: scalar) }
    }

    private mutating func append(quoted scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22, 0x5C: append("\\\(scalar)")
        case ..<0x10: append("\\x0" + String(scalar.value, radix: 16))
        case ..<0x20, 0x7F..<0xA0: append("\\x" + String(scalar.value, radix: 16))
        default: append(String(scalar))
        }
    }

    fileprivate mutating func append(json text: String) {
        var bytes: [UInt8] = []
        JSONEscaping.append(text, to: &bytes)
        append(bytes)
    }

    fileprivate mutating func append(member name: StaticString, _ value: String?) {
        guard let value else { return }
        append(literal: name)
        append(json: value)
    }

    /// `2000-10-10T13:55:36.123456Z` (RFC 3339).
    fileprivate mutating func append(timestamp nanoseconds: Int64) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = CivilTime(secondsSinceEpoch: seconds)
        append(digits: Int64(time.year), count: 4)
        append(literal: "-")
        append(digits: Int64(time.month), count: 2)
        append(literal: "-")
        append(digits: Int64(time.day), count: 2)
        append(literal: "T")
        append(digits: Int64(time.hour), count: 2)
        append(literal: ":")
        append(digits: Int64(time.minute), count: 2)
        append(literal: ":")
        append(digits: Int64(time.second), count: 2)
        append(literal: ".")
        append(digits: rest / 1_000, count: 6)
        append(literal: "Z")
    }

    fileprivate mutating func append(digits number: Int64, count: Int) {
        var unit: Int64 = 1
        for _ in 1..<count { unit *= 10 }
        while unit > 0 {
            append(UInt8(0x30 + number / unit % 10))
            unit /= 10
        }
    }
}

extension AccessRecord {
    /// The record as a line of `AccessLogFormat.combined`, without a line break.
    public var combined: String { AccessLogFormat.combined.line(of: self) }

    /// The record as a line of `AccessLogFormat.json`, without a line break.
    public var json: String { AccessLogFormat.json.line(of: self) }
}
