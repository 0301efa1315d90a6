/// A value that reads itself out of JSON, in a fraction of the time that `Decodable` takes.
///
/// For the few types of the endpoints that are asked most: the compiler writes `Decodable`, which
/// looks for each property by its name through several layers; this one takes the members as they
/// come.
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
/// `JSONBody`, and with it each route and each request that reads JSON, uses it for such a type if
/// its options let names be as they are declared. Otherwise, and inside of a type that is only
/// `Decodable`, its `init(from:)` reads it. The results may differ: in an initializer like the one
/// above an absent member leaves the property its default, and of members with the same name the
/// last one counts.
public protocol JSONReadable: Decodable, SendableMetatype {
    /// Reads the value that comes next, all of it.
    /// - Throws: an error of the reader as it came; any other is `.unexpectedJSON` (422).
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
            // The first room that an array makes by itself is for one or two.
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
