extension ByteBuffer {
    /// Writes one field line. Fields become bytes only here, so this function refuses bytes that
    /// could split a message, in release builds too.
    package mutating func append(
        field name: String, _ value: String
    ) throws(HTTPMessageError) {
        // Reserves 16 bytes more than needed, so that name and value can be checked in whole
        // vectors.
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

    /// Adds two bytes; the caller has reserved the memory.
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

    /// - Parameter bytes: the value; at least 16 bytes of the buffer follow it.
    private func isValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let base = bytes.baseAddress else { return true }
        var offset = 0
        while offset < bytes.count {
            var stops = unsafe Scanner.lineStops16(base, offset)
            let rest = bytes.count - offset
            if rest < 16 { stops &= (1 << UInt32(rest)) - 1 }
            // Ordinary text has no line stops; the byte at each stop is checked.
            while stops != 0 {
                let place = offset + stops.trailingZeroBitCount
                guard unsafe ByteClass.isFieldContent(bytes[place]) else { return false }
                stops &= stops - 1
            }
            offset += 16
        }
        return true
    }

    /// Writes a section of fields without the empty line after it. Fields that decide where the
    /// message ends are refused (see `framingField`).
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

    /// Shortens the buffer to an earlier length.
    mutating func truncate(to length: Int) {
        end = start + length
    }
}

/// The first fields of a section, checked and serialised once.
@usableFromInline
final class FieldLines: Sendable {
    let fieldCount: Int
    let bytes: [UInt8]
    /// See `HTTPFields.notes`.
    let notes: (any AnyObject & Sendable)?
    /// One bit for each length of a name, modulo 64.
    private let nameLengths: UInt64

    /// - Returns: `nil` if a field must not be sent.
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

    /// Whether one of the names may have this many bytes.
    func mayHaveName(ofLength length: Int) -> Bool {
        nameLengths >> UInt64(length & 63) & 1 == 1
    }
}

extension HTTPFields {
    /// Serialises the fields once; each later write copies these bytes. Use it for a section that
    /// is sent many times. Fields that are appended later are serialised at each write. If one of
    /// the fields must not be sent, no lines are kept, and writing the section fails as before.
    /// - Parameter notes: facts about these fields that are kept with them.
    package mutating func keepLines(notes: (any AnyObject & Sendable)? = nil) {
        lines = FieldLines(self, notes: notes)
    }

    /// The notes passed to `keepLines`; `nil` once a field was changed or appended.
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
