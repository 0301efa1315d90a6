/// A value that writes itself as JSON, in a fraction of the time that `Encodable` takes.
///
/// It is the counterpart of ``JSONReadable`` and meant for the few types of the endpoints that are asked
/// most.
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
/// `JSONBody`, and with it each response, uses it where the compiler knows that the type is one of
/// these, and the options ask for compact output with names as they are declared. Otherwise, and inside
/// of a type that is only `Encodable`, its `encode(to:)` writes it.
public protocol JSONWritable: Encodable {
    /// Writes one value, all of it.
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
    /// Writes a number; an infinite one, or none, makes encoding fail.
    public func write(to json: inout JSONWriter) { json.write(number: self) }
}

extension Float: JSONWritable {
    /// Writes a number; an infinite one, or none, makes encoding fail.
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
    /// Writes an object; its members are in no order.
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
