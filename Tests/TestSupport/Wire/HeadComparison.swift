public import HTTPParser

/// Compares `HeadParser` with the oracle.
public enum HeadComparison {
    /// The parser's result for the bytes, in the oracle's terms; `recorded` is left empty.
    public static func parsed(
        _ bytes: [UInt8], _ kind: HeadParser.Kind, limits: ParserLimits = .standard,
        leniency: ParserLeniency = [], bytewise: Bool = false
    ) -> PlainHead.Outcome {
        var parser = HeadParser(kind, limits: limits, leniency: leniency)
        do throws(HTTPParseError) {
            for count in bytewise ? Array(0...bytes.count) : [bytes.count] {
                guard let length = try parser.parse(bytes.span.extracting(first: count)) else {
                    continue
                }
                return .head(head(of: parser, kind, length: length))
            }
            return .incomplete
        } catch {
            return .failure(error)
        }
    }

    /// The head that a parser has read, in the oracle's terms.
    public static func head(
        of parser: borrowing HeadParser, _ kind: HeadParser.Kind, length: Int
    ) -> PlainHead {
        var head = PlainHead()
        head.length = length
        if kind == .request { head.target = parser.targetRange }
        if kind == .response { head.reason = parser.reasonRange }
        for position in 0..<parser.fieldCount {
            let slot = parser.slot(position)
            head.slots.append(
                PlainHead.Slot(
                    name: Int(slot.nameStart)..<Int(slot.nameEnd),
                    value: Int(slot.valueStart)..<Int(slot.valueEnd)))
        }
        return head
    }

    /// The first few differences among many inputs.
    public static func differences(
        _ inputs: some Sequence<[UInt8]>, _ kind: HeadParser.Kind, bytewise: Bool = true
    ) -> [String] {
        var found: [String] = []
        for bytes in inputs where found.count < 3 {
            if let text = difference(bytes, kind, bytewise: bytewise) { found.append(text) }
        }
        return found
    }

    /// How the parser, fed the whole or single bytes, differs from the oracle, or `nil`.
    public static func difference(
        _ bytes: [UInt8], _ kind: HeadParser.Kind, limits: ParserLimits = .standard,
        leniency: ParserLeniency = [], bytewise: Bool = true
    ) -> String? {
        let plain = PlainHead.read(bytes, kind, limits: limits, leniency: leniency)
        for single in bytewise ? [false, true] : [false] {
            let parsed = parsed(bytes, kind, limits: limits, leniency: leniency, bytewise: single)
            guard parsed != plain.placesOnly else { continue }
            return "\(Escapes.text(bytes)) \(single ? "bytewise" : "whole"): "
                + "\(parsed) but plainly \(plain.placesOnly)"
        }
        guard kind != .trailers else { return nil }
        let setup = WireSetup(
            kind == .request ? .request : .response(to: nil), limits: limits, leniency: leniency)
        let first = setup.events(bytes).first
        guard first != plain.event(kind) else { return nil }
        return "\(Escapes.text(bytes)): \(first.map(\.description) ?? "nothing") but plainly "
            + "\(plain.event(kind).map(\.description) ?? "nothing")"
    }
}

extension PlainHead.Outcome {
    fileprivate var placesOnly: Self {
        guard case .head(let head) = self else { return self }
        var places = PlainHead()
        places.length = head.length
        places.slots = head.slots
        places.target = head.target
        places.reason = head.reason
        return .head(places)
    }

    /// The first event that belongs to the outcome.
    fileprivate func event(_ kind: HeadParser.Kind) -> WireEvent? {
        switch self {
        case .incomplete: nil
        case .failure(let error): .failure(error)
        case .head(let head) where kind == .request: .request(head.recorded)
        case .head(let head):
            (100..<200).contains(head.code) && head.code != 101
                ? .interim(head.recorded) : .response(head.recorded)
        }
    }
}
