/// Writes one JSON value from front to back. Used by types that are `JSONWritable`.
///
/// A call in a wrong place, such as a second value, or a member outside of an object, writes
/// nothing, and makes encoding throw an error. Repeated names in an object are not detected. RFC
/// 8259.
public struct JSONWriter: ~Copyable {
    /// The text so far.
    private(set) var bytes: [UInt8] = []
    private var nesting = JSONNesting()
    /// Whether the innermost object or array, or the top level, already has a value.
    private var hasValue = false
    /// Whether a name was written and its value was not.
    private var hasName = false
    /// The first mistake.
    private(set) var problem: String?

    init() { bytes.reserveCapacity(256) }

    // MARK: Objects and arrays

    /// Begins an object.
    public mutating func beginObject() { begin(isObject: true) }

    /// Ends the object that was begun last.
    public mutating func endObject() { end(isObject: true) }

    /// Begins an array.
    public mutating func beginArray() { begin(isObject: false) }

    /// Ends the array that was begun last.
    public mutating func endArray() { end(isObject: false) }

    /// Writes the name of a member of the innermost object; its value is written next.
    public mutating func write(name: StaticString) {
        guard beginsName() else { return }
        if name.isASCII, !Self.needsEscape(name) {
            bytes.append(UInt8(ascii: "\""))
            bytes.append(jsonWord: name)
            bytes.append(jsonWord: "\":")
        } else {
            bytes.append(json: name.description)
            bytes.append(UInt8(ascii: ":"))
        }
    }

    /// Writes the name of a member of the innermost object; its value is written next.
    public mutating func write(name: String) {
        guard beginsName() else { return }
        bytes.append(json: name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a member of the innermost object.
    @inlinable
    public mutating func write(_ name: StaticString, _ value: some JSONWritable) {
        write(name: name)
        value.write(to: &self)
    }

    // MARK: Values

    /// Writes a value.
    @inlinable
    public mutating func write(_ value: some JSONWritable) { value.write(to: &self) }

    /// Writes `null`.
    public mutating func writeNull() {
        if beginsValue() { bytes.append(jsonWord: "null") }
    }

    mutating func write(string: String) {
        if beginsValue() { bytes.append(json: string) }
    }

    mutating func write(boolean: Bool) {
        if beginsValue() { bytes.append(jsonWord: boolean ? "true" : "false") }
    }

    mutating func write(integer: Int64) {
        if beginsValue() { bytes.append(json: integer) }
    }

    mutating func write(integer: UInt64) {
        if beginsValue() { bytes.append(json: integer) }
    }

    mutating func write(number: some BinaryFloatingPoint & CustomStringConvertible) {
        if beginsValue(), !bytes.append(json: number) { fail("JSON has no number \(number)") }
    }

    // MARK: Order

    /// Checks that the value is complete.
    mutating func finish() {
        if nesting.depth > 0 { fail("an object or array was not ended") }
        if !hasValue { fail("nothing was written") }
    }

    private mutating func begin(isObject: Bool) {
        guard beginsValue() else { return }
        guard nesting.depth < JSONBody.greatestDepth else { return fail("nested too deeply") }
        nesting.open(isObject: isObject)
        bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        hasValue = false
    }

    private mutating func end(isObject: Bool) {
        guard nesting.depth > 0, nesting.isInObject == isObject, !hasName else {
            return fail(
                isObject ? "an object ends at a wrong place" : "an array ends at a wrong place")
        }
        nesting.close()
        bytes.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        hasValue = true
    }

    private mutating func beginsName() -> Bool {
        guard nesting.depth > 0, nesting.isInObject, !hasName else {
            fail("a name is at a wrong place")
            return false
        }
        if hasValue { bytes.append(UInt8(ascii: ",")) }
        hasName = true
        return true
    }

    private mutating func beginsValue() -> Bool {
        if nesting.depth > 0, nesting.isInObject {
            guard hasName else { return isMisplaced() }
            hasName = false
        } else if hasValue {
            guard nesting.depth > 0 else { return isMisplaced() }
            bytes.append(UInt8(ascii: ","))
        }
        hasValue = true
        return true
    }

    private mutating func isMisplaced() -> Bool {
        fail("a value is at a wrong place")
        return false
    }

    private mutating func fail(_ text: String) { problem = problem ?? text }

    private static func needsEscape(_ name: StaticString) -> Bool {
        for index in 0..<name.utf8CodeUnitCount {
            let byte = unsafe name.utf8Start[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                return true
            }
        }
        return false
    }
}
