import HTTPParser

/// Framing and connection options of the fields, read as text by RFC 9112 sections 6 and 9.
struct PlainFraming {
    private var hosts = 0
    private var length: Int64?
    private var isChunked = false
    private var options: Set<String> = []
    private var hasUpgrade = false
    private var expectations: Set<String> = []

    mutating func take(_ slot: PlainHead.Slot, _ reader: PlainReader) throws(PlainReader.Stop) {
        let value = reader.text(slot.value)
        let offset = slot.value.lowerBound
        switch reader.text(slot.name).lowercased() {
        case "host": if reader.kind == .request { try takeHost(value, reader, offset) }
        case "content-length": try takeLength(value, reader, offset)
        case "transfer-encoding": try takeTransferCoding(value, reader, offset)
        case "connection":
            options.formUnion(PlainGrammar.elements(value).map { $0.lowercased() })
        case "upgrade": hasUpgrade = true
        case "expect": expectations.insert(value.lowercased())
        default: break
        }
    }

    private mutating func takeHost(
        _ value: String, _ reader: PlainReader, _ offset: Int
    ) throws(PlainReader.Stop) {
        guard hosts == 0 else { throw reader.stop(.repeatedHost, offset) }
        guard PlainGrammar.isAuthority(value) else { throw reader.stop(.invalidHost, offset) }
        hosts += 1
    }

    private mutating func takeLength(
        _ value: String, _ reader: PlainReader, _ offset: Int
    ) throws(PlainReader.Stop) {
        guard !isChunked else { throw reader.stop(.contentLengthWithTransferCoding, offset) }
        let forgives = reader.leniency.contains(.identicalContentLengths)
        var elements = PlainGrammar.elements(value)
        if !forgives { elements = [String(value.prefix { $0 != "," })] }
        for element in elements {
            guard let number = PlainGrammar.number(element) else {
                throw reader.stop(.invalidContentLength, offset)
            }
            guard length == nil || (forgives && length == number) else {
                throw reader.stop(.repeatedContentLength, offset)
            }
            length = number
        }
        guard forgives || !value.contains(",") else {
            throw reader.stop(.repeatedContentLength, offset)
        }
    }

    private mutating func takeTransferCoding(
        _ value: String, _ reader: PlainReader, _ offset: Int
    ) throws(PlainReader.Stop) {
        guard length == nil else { throw reader.stop(.contentLengthWithTransferCoding, offset) }
        guard !isChunked else { throw reader.stop(.invalidTransferCoding, offset) }
        let codings = PlainGrammar.elements(value).map { $0.lowercased() }
        isChunked = codings == ["chunked"]
        guard !isChunked else { return }
        let areValid = codings.allSatisfy { PlainGrammar.isToken($0) && $0 != "identity" }
        let isChunkedLast = codings.firstIndex(of: "chunked") == codings.count - 1
        throw reader.stop(
            areValid && isChunkedLast ? .unsupportedTransferCoding : .invalidTransferCoding,
            offset)
    }

    func checkRequest(_ reader: PlainReader) throws(PlainReader.Stop) {
        let end = reader.head.length
        guard hosts == 1 || reader.head.minor == 0 || reader.leniency.contains(.missingHost) else {
            throw reader.stop(.missingHost, end)
        }
        guard reader.head.method == "CONNECT" else { return }
        guard !isChunked, (length ?? 0) == 0 else { throw reader.stop(.contentInConnect, end) }
    }

    func record(_ reader: PlainReader) -> RecordedHead {
        let head = reader.head
        let fields = head.slots.map {
            FieldLine(name: Array(reader.bytes[$0.name]), value: Array(reader.bytes[$0.value]))
        }
        var line = "\(head.method) \(reader.text(head.target)) HTTP/1.\(head.minor)"
        var traits = reader.kind == .request ? [head.form] : []
        let framing = reader.kind == .request ? requestFraming(head) : responseFraming(head)
        traits.append(framing)
        traits.append(isPersistent(head, framing) ? "persistent" : "closing")
        if reader.kind == .request { traits += requestTraits(head) }
        if reader.kind == .response {
            let reason = fieldText(Array(reader.bytes[head.reason]))
            line = "HTTP/1.\(head.minor) \(head.code)" + (reason.isEmpty ? "" : " \(reason)")
            if let length, length > 0, !framing.hasPrefix("length") {
                traits.append("announces \(length)")
            }
        }
        return RecordedHead(startLine: Array(line.utf8), traits: traits, fields: fields)
    }

    private func fieldText(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private func requestFraming(_ head: PlainHead) -> String {
        if head.method == "CONNECT" { return "tunnel" }
        if isChunked { return "chunked" }
        return (length ?? 0) > 0 ? "length \(length ?? 0)" : "none"
    }

    /// As a response to GET.
    private func responseFraming(_ head: PlainHead) -> String {
        if head.code < 200 || head.code == 204 || head.code == 304 { return "none" }
        if isChunked { return "chunked" }
        guard let length else { return "until-close" }
        return length > 0 ? "length \(length)" : "none"
    }

    private func isPersistent(_ head: PlainHead, _ framing: String) -> Bool {
        if options.contains("close") || framing == "until-close" { return false }
        if head.minor > 0 { return true }
        return options.contains("keep-alive") && !isChunked
    }

    private func requestTraits(_ head: PlainHead) -> [String] {
        guard head.minor > 0 else { return [] }
        var traits: [String] = []
        if expectations.contains("100-continue") { traits.append("expects-continue") }
        if hasUpgrade, options.contains("upgrade") { traits.append("offers-upgrade") }
        return traits
    }
}
