/// A value that reads itself from JSON, in a fraction of the time that `Decodable` takes.
///
/// Meant for the few types of the most used endpoints. The compiler's `Decodable` code looks up
/// each property by name, through several layers; a `JSONReadable` type takes the members in the
/// order of the content.
///
/// ```swift
/// struct Point: JSONReadable {
///     var x = 0.0
///     var y = 0.0
///
///     init(reading json: inout JSONReader) throws {
///         try json.beginObject()
///         while let name = try json.nextName() {
///             switch name {
///             case "x": x = try json.next()
///             case "y": y = try json.next()
///             default: break  // Its value is skipped.
///             }
///         }
///     }
/// }
/// ```
///
/// `JSONBody`, and therefore each route and request that reads JSON, uses `init(reading:)` if its
/// options keep names as declared. Otherwise, and inside of a type that is only `Decodable`,
/// `init(from:)` reads the value. The results may differ: in an initializer like the one above, a
/// property without a member keeps its default, and of members with the same name the last one
/// counts.
public protocol JSONReadable: Decodable, SendableMetatype {
    /// Reads exactly one value, the next one.
    /// - Throws: errors of the reader, which must be passed on unchanged; any other error becomes
    ///   `.unexpectedJSON` (422).
    init(reading json: inout JSONReader) throws
}

extension String: JSONReadable {
    /// Reads a string.
    public init(reading json: inout JSONReader) throws { self = try json.string() }
}

extension Bool: JSONReadable {
    /// Reads `true` or `false`.
    public init(reading json: inout JSONReader) throws { self = try json.boolean() }
}

extension Double: JSONReadable {
    /// Reads a number.
    public init(reading json: inout JSONReader) throws { self = try json.double() }
}

extension Float: JSONReadable {
    /// Reads a number, rounded to the nearest value.
    public init(reading json: inout JSONReader) throws { self = try json.float() }
}

extension FixedWidthInteger where Self: JSONReadable {
    /// Reads a number that is an integer in the range of the type.
    public init(reading json: inout JSONReader) throws { self = try json.integer() }
}

extension Int: JSONReadable {}
extension Int8: JSONReadable {}
extension Int16: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}
extension UInt: JSONReadable {}
extension UInt8: JSONReadable {}
extension UInt16: JSONReadable {}
extension UInt32: JSONReadable {}
extension UInt64: JSONReadable {}

extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Reads a value, or `null`.
    @inlinable
    public init(reading json: inout JSONReader) throws {
        self = try json.nextNull() ? nil : Wrapped(reading: &json)
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads an array.
    @inlinable
    public init(reading json: inout JSONReader) throws {
        self.init()
        try json.beginArray()
        while try json.nextElement() {
            // Otherwise the first allocation would have space for only one or two elements.
            if capacity == 0 { reserveCapacity(8) }
            append(try Element(reading: &json))
        }
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads an object; of members with the same name the first one counts.
    @inlinable
    public init(reading json: inout JSONReader) throws {
        self.init()
        try json.beginObject()
        while let name = try json.nextName() {
            let key = name.string
            if self[key] == nil { self[key] = try Value(reading: &json) }
        }
    }
}
