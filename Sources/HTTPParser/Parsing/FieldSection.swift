/// The position of one field line, as offsets from the first byte of the head or of the trailer
/// section.
public struct FieldSlot: BitwiseCopyable, Sendable {
    /// The first byte of the name.
    public var nameStart: UInt32
    /// The byte after the name.
    public var nameEnd: UInt32
    /// The first byte of the value, after white space.
    public var valueStart: UInt32
    /// The byte after the value, before white space.
    public var valueEnd: UInt32
}

/// Pointers to the bytes and slots that all views of a parsed section read.
@unsafe
package struct FieldTable {
    package var bytes: UnsafeRawPointer
    package var slots: UnsafePointer<FieldSlot>
    package var count: Int

    package init(bytes: UnsafeRawPointer, slots: UnsafePointer<FieldSlot>, count: Int) {
        unsafe self.bytes = bytes
        unsafe self.slots = slots
        unsafe self.count = count
    }

    @inline(__always)
    package func name(_ index: Int) -> UnsafeRawBufferPointer {
        let slot = unsafe slots[index]
        return unsafe UnsafeRawBufferPointer(
            start: bytes + Int(slot.nameStart), count: Int(slot.nameEnd &- slot.nameStart))
    }

    @inline(__always)
    package func value(_ index: Int) -> UnsafeRawBufferPointer {
        let slot = unsafe slots[index]
        return unsafe UnsafeRawBufferPointer(
            start: bytes + Int(slot.valueStart), count: Int(slot.valueEnd &- slot.valueStart))
    }

    /// The first field at or after `start` with this name.
    package func index(of name: HTTPFieldName, from start: Int = 0) -> Int? {
        let length = name.text.utf8.count
        var index = start
        // The lengths alone rule out nearly all fields.
        while unsafe index < count, unsafe self.name(index).count != length { index += 1 }
        guard unsafe index < count else { return nil }
        var text = name.text
        return text.withUTF8 { wanted in
            while unsafe index < count {
                if unsafe equalsIgnoringCase(self.name(index), wanted) { return index }
                index += 1
            }
            return nil
        }
    }

    package func values(of name: HTTPFieldName) -> [String] {
        var values: [String] = []
        var next = unsafe index(of: name)
        while let found = next {
            unsafe values.append(fieldText(value(found)))
            next = unsafe index(of: name, from: found + 1)
        }
        return values
    }

    /// All values joined by commas (RFC 9110 section 5.3); `nil` without such a field.
    package func list(_ name: HTTPFieldName) -> String? {
        guard let first = unsafe index(of: name) else { return nil }
        guard unsafe index(of: name, from: first + 1) != nil else {
            return unsafe fieldText(value(first))
        }
        return unsafe values(of: name).joined(separator: ", ")
    }

    package func field(_ index: Int) -> HTTPField {
        unsafe HTTPField(
            HTTPFieldName(unchecked: String(decoding: name(index), as: UTF8.self)),
            fieldText(value(index)))
    }
}

/// Whether the bytes equal `wanted`, ignoring the case of ASCII letters.
package func equalsIgnoringCase(
    _ bytes: UnsafeRawBufferPointer, _ wanted: UnsafeBufferPointer<UInt8>
) -> Bool {
    let count = bytes.count
    guard count == wanted.count else { return false }
    let wanted = UnsafeRawBufferPointer(wanted)
    var index = 0
    // Most names have the usual case: compare eight bytes at a time, and single bytes after a
    // mismatch.
    while index &+ 8 <= count,
        unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            == wanted.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    {
        index &+= 8
    }
    while index < count {
        let pair = unsafe (bytes[index], wanted[index])
        if pair.0 != pair.1, ByteClass.lowercased(pair.0) != ByteClass.lowercased(pair.1) {
            return false
        }
        index &+= 1
    }
    return true
}

/// A value as text: UTF-8 where it is valid, else each byte as one Latin-1 character, so that no
/// value is lost or changed into replacement characters (RFC 9110 section 5.5).
package func fieldText(_ bytes: UnsafeRawBufferPointer) -> String {
    // `String(validating:as:)` looks up a generic type each time, and nearly all values are ASCII.
    if unsafe isASCII(bytes) { return unsafe String(decoding: bytes, as: UTF8.self) }
    if let text = unsafe String(validating: bytes, as: UTF8.self) { return text }
    return unsafe latin1Text(bytes)
}

private func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var index = 0
    while index + 8 <= bytes.count {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        guard word & 0x8080_8080_8080_8080 == 0 else { return false }
        index += 8
    }
    while index < bytes.count {
        guard unsafe bytes[index] < 0x80 else { return false }
        index += 1
    }
    return true
}

/// The bytes as Latin-1: each byte is the character of the same number.
package func latin1Text(_ bytes: UnsafeRawBufferPointer) -> String {
    var text = String.UnicodeScalarView()
    for index in 0..<bytes.count { unsafe text.append(Unicode.Scalar(bytes[index])) }
    return String(text)
}

/// The fields of a parsed head, read in place: a view that cannot outlive the head.
///
/// Nothing is copied or allocated until a `String` is requested. Names compare without regard to
/// case; order and duplicates are those of the wire (RFC 9110 section 5.3).
@safe
public struct FieldSection: ~Escapable {
    package let table: FieldTable

    @_lifetime(immortal)
    package init(_ table: FieldTable) {
        unsafe self.table = table
    }

    /// The number of field lines.
    public var count: Int { unsafe table.count }

    /// Whether there are no fields.
    public var isEmpty: Bool { count == 0 }

    /// The value of the first field with this name, as text: UTF-8, or Latin-1 where the bytes
    /// are not valid UTF-8.
    public subscript(name: HTTPFieldName) -> String? {
        guard let index = unsafe table.index(of: name) else { return nil }
        return unsafe fieldText(table.value(index))
    }

    /// The field at a position of 0..<count.
    public subscript(position: Int) -> HTTPField {
        precondition(position >= 0 && position < count, "field position out of range")
        return unsafe table.field(position)
    }

    /// Calls `body` with each field, in the order of the wire.
    ///
    /// ```swift
    /// head.fields.forEach { field in print(field.name, field.value) }
    /// ```
    ///
    /// A section cannot outlive its head, so it is not a `Sequence`; `HTTPFields(section)` makes a
    /// copy that can be kept and iterated with `for`.
    /// - Throws: the error that `body` throws; later fields are not visited.
    public func forEach<Failure: Error>(
        _ body: (HTTPField) throws(Failure) -> Void
    ) throws(Failure) {
        for position in 0..<count { try unsafe body(table.field(position)) }
    }

    /// Calls `body` with the bytes of each name and value, in the order of the wire, without
    /// creating strings.
    /// - Throws: the error that `body` throws; later fields are not visited.
    public func forEachBytes<Failure: Error>(
        _ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        for position in 0..<count { try body(nameBytes(position), valueBytes(position)) }
    }

    /// Whether there is a field with this name.
    public func contains(_ name: HTTPFieldName) -> Bool {
        unsafe table.index(of: name) != nil
    }

    /// The values of all fields with this name, in order.
    public func values(of name: HTTPFieldName) -> [String] {
        unsafe table.values(of: name)
    }

    /// The bytes of the name at a position of 0..<count.
    @_lifetime(copy self)
    public func nameBytes(_ position: Int) -> Span<UInt8> {
        precondition(position >= 0 && position < count, "field position out of range")
        let bytes = unsafe table.name(position).assumingMemoryBound(to: UInt8.self)
        return unsafe _overrideLifetime(Span(_unsafeElements: bytes), copying: self)
    }

    /// The bytes of the value at a position of 0..<count.
    @_lifetime(copy self)
    public func valueBytes(_ position: Int) -> Span<UInt8> {
        precondition(position >= 0 && position < count, "field position out of range")
        let bytes = unsafe table.value(position).assumingMemoryBound(to: UInt8.self)
        return unsafe _overrideLifetime(Span(_unsafeElements: bytes), copying: self)
    }
}

extension HTTPFields {
    /// Copies a parsed section into a value that can outlive it.
    public init(_ section: borrowing FieldSection) {
        self.init()
        reserveCapacity(section.count)
        section.forEach { append($0) }
    }
}
