/// A value that writes itself as JSON, in a fraction of the time that `Encodable` takes.
///
/// The counterpart of ``JSONReadable``, meant for the few types of the most used endpoints.
///
/// ```swift
/// struct Point: JSONWritable {
///     var x = 0.0
///     var y = 0.0
///
///     func write(to json: inout JSONWriter) {
///         json.beginObject()
///         json.write("x", x)
///         json.write("y", y)
///         json.endObject()
///     }
/// }
/// ```
///
/// `JSONBody`, and therefore each response, uses `write(to:)` if the static type is `JSONWritable`
/// and the options require compact output with names as declared. Otherwise, and inside of a type
/// that is only `Encodable`, `encode(to:)` writes the value.
public protocol JSONWritable: Encodable {
    /// Writes exactly one value.
    func write(to json: inout JSONWriter)
}

extension String: JSONWritable {
    /// Writes a string.
    public func write(to json: inout JSONWriter) { json.write(string: self) }
}

extension Bool: JSONWritable {
    /// Writes `true` or `false`.
    public func write(to json: inout JSONWriter) { json.write(boolean: self) }
}

extension Double: JSONWritable {
    /// Writes a number. Encoding fails if it is infinite or not a number.
    public func write(to json: inout JSONWriter) { json.write(number: self) }
}

extension Float: JSONWritable {
    /// Writes a number. Encoding fails if it is infinite or not a number.
    public func write(to json: inout JSONWriter) { json.write(number: self) }
}

extension FixedWidthInteger where Self: JSONWritable {
    /// Writes a number.
    public func write(to json: inout JSONWriter) {
        if let number = Int64(exactly: self) {
            json.write(integer: number)
        } else {
            json.write(integer: UInt64(self))
        }
    }
}

extension Int: JSONWritable {}
extension Int8: JSONWritable {}
extension Int16: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}
extension UInt: JSONWritable {}
extension UInt8: JSONWritable {}
extension UInt16: JSONWritable {}
extension UInt32: JSONWritable {}
extension UInt64: JSONWritable {}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// Writes the value, or `null`.
    @inlinable
    public func write(to json: inout JSONWriter) {
        if let self { self.write(to: &json) } else { json.writeNull() }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes an array.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.beginArray()
        for element in self { element.write(to: &json) }
        json.endArray()
    }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// Writes an object, whose members are in no particular order.
    @inlinable
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        for (name, value) in self {
            json.write(name: name)
            value.write(to: &json)
        }
        json.endObject()
    }
}
