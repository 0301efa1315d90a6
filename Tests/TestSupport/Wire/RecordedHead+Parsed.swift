import HTTPParser

extension [WireEvent] {
    mutating func record(_ event: consuming RequestEvent) {
        switch consume event {
        case .head(let head): append(.request(RecordedHead(head)))
        case .content(let bytes): recordContent(bytes)
        case .end(let trailers): append(.end(trailers.lines))
        }
    }

    mutating func record(_ event: consuming ResponseEvent) {
        switch consume event {
        case .interim(let head): append(.interim(RecordedHead(head)))
        case .head(let head): append(.response(RecordedHead(head)))
        case .content(let bytes): recordContent(bytes)
        case .end(let trailers): append(.end(trailers.lines))
        }
    }

    private mutating func recordContent(_ bytes: Span<UInt8>) {
        if case .content(let before) = last {
            self[count - 1] = .content(before + bytes.array)
        } else {
            append(.content(bytes.array))
        }
    }
}

extension Span<UInt8> {
    /// A copy of the bytes.
    var array: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in indices { bytes.append(self[index]) }
        return bytes
    }
}

extension HTTPFields {
    /// The fields as lines.
    var lines: [FieldLine] {
        map { FieldLine(name: Array($0.name.text.utf8), value: Array($0.value.utf8)) }
    }
}

extension FieldSection {
    /// The fields as lines, by their bytes.
    var lines: [FieldLine] {
        (0..<count).map {
            FieldLine(name: nameBytes($0).array, value: valueBytes($0).array)
        }
    }
}

extension RecordedHead {
    init(_ head: borrowing RequestHead) {
        let target = head.target
        var traits = ["\(target.form)", head.framing.trait]
        traits.append(head.isPersistent ? "persistent" : "closing")
        if head.expectsContinue { traits.append("expects-continue") }
        if head.offersUpgrade { traits.append("offers-upgrade") }
        self.init(
            startLine: Array("\(head.method) \(target) \(head.version)".utf8), traits: traits,
            fields: head.fields.lines)
    }

    init(_ head: borrowing ResponseHead) {
        var traits = [head.framing.trait, head.isPersistent ? "persistent" : "closing"]
        if let length = head.contentLength, head.framing != .length(length), length > 0 {
            traits.append("announces \(length)")
        }
        let reason = head.reasonPhrase
        let line = "\(head.version) \(head.status.code)" + (reason.isEmpty ? "" : " \(reason)")
        self.init(startLine: Array(line.utf8), traits: traits, fields: head.fields.lines)
    }
}
