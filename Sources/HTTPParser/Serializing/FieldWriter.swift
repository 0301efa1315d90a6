extension ByteBuffer {
    /// Writes one field line. This is the only place where fields become bytes, so it is here
    /// that what could split a message is refused, in release builds too.
    package mutating func append(
        field name: String, _ value: String
    ) throws(HTTPMessageError) {
        // 16 bytes more than needed, so that both can be checked by whole vectors.
        reserve(name.utf8.count + value.utf8.count + 20)
        let before = end
        append(name)
        guard unsafe isName(written(from: before)) else {
            end = before
            throw HTTPMessageError(.invalidFieldName, name)
        }
        appendPair(UInt8(ascii: ":"), UInt8(ascii: " "))
        let valueStart = end
        append(value)
        guard unsafe isValue(written(from: valueStart)) else {
            end = before
            throw HTTPMessageError(.invalidFieldValue, name)
        }
        appendPair(UInt8(ascii: "\r"), UInt8(ascii: "\n"))
    }

    /// Adds two bytes for which there is room.
    private mutating func appendPair(_ first: UInt8, _ second: UInt8) {
        let pair = UInt16(first) | UInt16(second) << 8
        unsafe base.storeBytes(of: pair.littleEndian, toByteOffset: end, as: UInt16.self)
        end += 2
    }

    private func written(from position: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(start: base + position, count: end - position)
    }

    private func isName(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > 0, let base = bytes.baseAddress else { return false }
        let stops = unsafe Scanner.nameStops(Scanner.vector(base, 0))
        if bytes.count <= 16, stops & ((1 << UInt32(bytes.count)) - 1) == 0 { return true }
        return unsafe bytes.allSatisfy(ByteClass.isToken)
    }

    /// - Parameter bytes: they are followed by 16 bytes of the buffer.
    private func isValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var offset = 0
        while offset < bytes.count {
            var stops = unsafe Scanner.lineStops16(base, offset)
            let rest = bytes.count - offset
            if rest < 16 { stops &= (1 << UInt32(rest)) - 1 }
            // Ordinary text has no line stop at all; only where there is one is it looked at.
            while stops != 0 {
                let place = offset + stops.trailingZeroBitCount
                guard unsafe ByteClass.isFieldContent(bytes[place]) else { return false }
                stops &= stops - 1
            }
            offset += 16
        }
        return true
    }

    /// Writes a section of fields without the empty line. Fields that decide where the message ends
    /// are refused (see `framingField`).
    mutating func append(fields: HTTPFields) throws(HTTPMessageError) {
        if let lines = fields.lines { append(lines.bytes) }
        for index in (fields.lines?.fieldCount ?? 0)..<fields.count {
            let field = fields[index]
            guard !field.name.decidesFraming else {
                throw HTTPMessageError(.framingField, field.name.text)
            }
            try append(field: field.name.text, field.value)
        }
    }

    /// Puts the buffer back to an earlier length.
    mutating func truncate(to length: Int) {
        end = start + length
    }
}

/// The first fields of a section as lines, checked and written once.
@usableFromInline
final class FieldLines: Sendable {
    let fieldCount: Int
    let bytes: [UInt8]
    /// See `HTTPFields.notes`.
    let notes: (any AnyObject & Sendable)?
    /// A bit for the length of each name.
    private let nameLengths: UInt64

    /// - Returns: `nil` for fields that must not be sent.
    init?(_ fields: HTTPFields, notes: (any AnyObject & Sendable)?) {
        var buffer = ByteBuffer()
        do throws(HTTPMessageError) {
            try buffer.append(fields: fields)
        } catch {
            return nil
        }
        fieldCount = fields.count
        bytes = unsafe Array(buffer.unsafeBytes)
        self.notes = notes
        nameLengths = fields.reduce(0) { $0 | 1 << UInt64($1.name.text.utf8.count & 63) }
    }

    /// Whether a name among them may have that many bytes.
    func mayHaveName(ofLength length: Int) -> Bool {
        nameLengths >> UInt64(length & 63) & 1 == 1
    }
}

extension HTTPFields {
    /// Writes the fields once; from now on their lines are copied. It pays where a section is sent
    /// many times. Fields that are appended later are written each time. If one of the fields must
    /// not be sent, no lines are kept, and sending them fails as before.
    /// - Parameter notes: facts about these fields that are kept with them.
    package mutating func keepLines(notes: (any AnyObject & Sendable)? = nil) {
        lines = FieldLines(self, notes: notes)
    }

    /// The facts that were kept with the lines; `nil` as soon as a field was changed or appended.
    package var notes: (any AnyObject & Sendable)? {
        guard let lines, lines.fieldCount == storage.count else { return nil }
        return lines.notes
    }
}

extension HTTPFieldName {
    /// Whether the field is one that the serialisers write themselves.
    package var decidesFraming: Bool {
        switch text.utf8.count {
        case 10: self == .connection
        case 14: self == .contentLength
        case 17: self == .transferEncoding
        default: false
        }
    }
}
