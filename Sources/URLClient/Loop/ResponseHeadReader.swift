internal import HTTPParser

/// Reads the head of a response line by line, and the trailers after the content.
struct ResponseHeadReader {
    /// The meaning of a line.
    enum Line {
        /// The first line of a head. Any earlier head was that of an interim response.
        case status
        case field
        /// The empty line at the end of a head.
        case end
        case trailer
    }

    /// A complete head.
    struct Head {
        let status: HTTPStatus
        let version: ClientResponse.Version
        let fields: ResponseFields

        var isInterim: Bool { status.code < 200 && status.code != 101 }
    }

    private var lines: [UInt8] = []
    /// Whether a status line has arrived, but not yet the empty line after its fields.
    private var isOpen = false
    private var names = FieldNameFilter.none
    private var byteCount = 0
    private var hasLength = false
    private var hasConflict = false
    private var hasTransferCoding = false
    /// Whether the final head is complete.
    private(set) var isDone = false
    /// The length of the content, if the server announced it.
    private(set) var contentLength: Int64?
    /// Whether the content has a content coding.
    private(set) var isCoded = false
    /// The interim responses before the final one.
    private(set) var interim: [ClientResponse.Interim] = []

    /// Whether part of a response has arrived, but no complete final head.
    var isInside: Bool { byteCount > 0 && !isDone }

    /// Takes a line, including its line ending.
    /// - Parameters:
    ///   - line: the line.
    ///   - limit: the most bytes of all heads and the trailers together.
    /// - Throws: `.headTooLong`, `.badResponse`.
    mutating func add(
        _ line: UnsafeRawBufferPointer, limit: Int
    ) throws(ClientError) -> Line {
        byteCount += line.count
        guard byteCount <= limit else {
            throw ClientError(.headTooLong, "more than \(limit) bytes")
        }
        if isDone {
            // If libcurl repeats a request, the second response must not be added to this one.
            guard unsafe !Self.startsHead(line) else {
                throw ClientError(.badResponse, "a second response")
            }
            unsafe lines.append(contentsOf: line)
            return .trailer
        }
        guard unsafe !Self.isEmpty(line) else {
            isOpen = false
            return .end
        }
        if unsafe Self.startsHead(line) {
            // Such a line between fields would replace the status and all fields before it.
            guard !isOpen else { throw ClientError(.badResponse, Self.secondStatusLine) }
            reset()
            isOpen = true
            unsafe lines.append(contentsOf: line)
            return .status
        }
        unsafe lines.append(contentsOf: line)
        unsafe names.add(line)
        try unsafe noteField(line)
        return .field
    }

    private mutating func reset() {
        lines.removeAll(keepingCapacity: true)
        lines.reserveCapacity(512)
        names = .none
        (hasLength, hasConflict, contentLength, isCoded) = (false, false, nil, false)
        hasTransferCoding = false
    }

    /// Ends the head and returns it.
    /// - Throws: `.badResponse`.
    mutating func finish() throws(ClientError) -> Head {
        guard let (status, version) = Self.statusLine(of: lines) else {
            throw ClientError(.badResponse, "no valid status line")
        }
        // Two lengths could be read in two ways (RFC 9112 section 6.3).
        guard !hasConflict else { throw ClientError(.badResponse, "Content-Length fields differ") }
        // Transfer-Encoding overrides the length, as it does in libcurl (section 6.3).
        if hasTransferCoding { contentLength = nil }
        let head = Head(
            status: status, version: version, fields: ResponseFields(bytes: lines, names: names))
        if !head.isInterim { finishWithoutHead() }
        return head
    }

    /// Ends the head. Called directly if content arrives without one, as in HTTP/0.9.
    mutating func finishWithoutHead() {
        isDone = true
        lines = []
    }

    /// Keeps an interim response, at most 32 of them.
    /// - Returns: whether it was kept.
    mutating func keep(_ response: ClientResponse.Interim) -> Bool {
        guard interim.count < 32 else { return false }
        interim = interim + [response]
        return true
    }

    /// The fields after the content.
    var trailers: HTTPFields {
        lines.isEmpty ? HTTPFields() : FieldLines.fields(in: lines)
    }

    // MARK: lines

    static let secondStatusLine = "a second status line in one head"

    static func isEmpty(_ line: UnsafeRawBufferPointer) -> Bool {
        unsafe line.isEmpty || line[0] == 10 || (line[0] == 13 && line.count == 2)
    }

    static func startsHead(_ line: UnsafeRawBufferPointer) -> Bool {
        unsafe line.count >= 5 && line[0] == 0x48 && line[1] == 0x54 && line[2] == 0x54
            && line[3] == 0x50 && line[4] == 0x2F
    }

    /// Notes the fields that decide how the content is read: Content-Length, Content-Encoding and
    /// Transfer-Encoding.
    private mutating func noteField(_ line: UnsafeRawBufferPointer) throws(ClientError) {
        guard line.count > 15 else { return }
        if unsafe line[8] == 0x2D, unsafe Self.matches(line, "transfer-encoding:") {
            hasTransferCoding = true
            return
        }
        guard unsafe line[0] | 0x20 == 0x63, unsafe line[7] == 0x2D else { return }
        if unsafe Self.matches(line, "content-length:") {
            let value = unsafe UnsafeRawBufferPointer(rebasing: line[15...])
            guard let length = unsafe FieldLines.decimal(value) else {
                throw ClientError(.badResponse, "Content-Length is not a decimal number")
            }
            if hasLength, length != contentLength { hasConflict = true }
            (hasLength, contentLength) = (true, length)
        } else if unsafe Self.matches(line, "content-encoding:") {
            isCoded = true
        }
    }

    private static func matches(_ line: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard line.count >= length else { return false }
        for index in 0..<length {
            let byte = unsafe line[index]
            let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            guard unsafe lower == name.utf8Start[index] else { return false }
        }
        return true
    }

    /// Parses the first line: the version, a space and three digits. The reason phrase may be
    /// missing.
    static func statusLine(of lines: [UInt8]) -> (HTTPStatus, ClientResponse.Version)? {
        // HTTP/0.9 has no head, and libcurl does not invent one.
        guard let end = lines.firstIndex(of: 10) else { return nil }
        let line = lines[..<end]
        // libcurl checks a server's status line, but not that of a proxy's response to CONNECT.
        guard unsafe line.withUnsafeBytes({ unsafe startsHead($0) }),
            let space = line.firstIndex(of: 32), line.count >= space + 4
        else { return nil }
        var code = 0
        for byte in line[(space + 1)...(space + 3)] {
            guard (0x30...0x39).contains(byte) else { return nil }
            code = code * 10 + Int(byte - 0x30)
        }
        guard let status = HTTPStatus(code) else { return nil }
        let version: ClientResponse.Version =
            switch line[5] {
            case 0x32: .http2
            case 0x33: .http3
            default: space == 8 && line[7] == 0x30 ? .http10 : .http11
            }
        return (status, version)
    }
}
