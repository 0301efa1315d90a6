/// A section of fields: ordered, duplicates kept, names compared without regard to case
/// (RFC 9110 section 5).
///
/// ```swift
/// var fields = HTTPFields()
/// fields[.contentType] = "text/plain"
/// fields.append(.setCookie, "a=1")
/// fields.append(.setCookie, "b=2")
/// ```
public struct HTTPFields: Sendable {
    @usableFromInline
    var storage: [HTTPField]
    /// The first fields as serialised lines, made by `keepLines`; `nil` after a field was changed
    /// or removed.
    @usableFromInline
    var lines: FieldLines?

    /// Creates an empty section; it allocates nothing.
    @inlinable
    public init() {
        storage = []
    }

    /// The value of the first field with this name. Setting a value replaces all fields with the
    /// name by one, at the position of the first, or appends a field. Setting `nil` removes all of
    /// them.
    public subscript(name: HTTPFieldName) -> String? {
        get { index(of: name).map { storage[$0].value } }
        set {
            guard let newValue else { return remove(name) }
            guard let first = index(of: name) else {
                return append(name, newValue)
            }
            lines = nil
            storage[first].value = newValue
            var index = storage.count - 1
            while index > first {
                if storage[index].name == name { storage.remove(at: index) }
                index -= 1
            }
        }
    }

    /// The values of all fields with this name, in order.
    public func values(of name: HTTPFieldName) -> [String] {
        storage.filter { $0.name == name }.map { $0.value }
    }

    /// Whether there is a field with this name.
    public func contains(_ name: HTTPFieldName) -> Bool { index(of: name) != nil }

    /// The index of the first field with this name.
    private func index(of name: HTTPFieldName) -> Int? {
        let length = name.text.utf8.count
        var index = 0
        if let lines, !lines.mayHaveName(ofLength: length) { index = lines.fieldCount }
        while index < storage.count {
            if storage[index].name.text.utf8.count == length, storage[index].name == name {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Adds a field after the others.
    public mutating func append(_ name: HTTPFieldName, _ value: String) {
        storage.append(HTTPField(name, value))
    }

    /// Adds a field after the others.
    public mutating func append(_ field: HTTPField) {
        storage.append(field)
    }

    /// Removes every field with this name.
    public mutating func remove(_ name: HTTPFieldName) {
        lines = nil
        storage.removeAll { $0.name == name }
    }

    /// Reserves memory for `count` fields in total.
    public mutating func reserveCapacity(_ count: Int) {
        storage.reserveCapacity(count)
    }
}

extension HTTPFields: Hashable {
    /// Whether both have the same fields in the same order.
    public static func == (left: Self, right: Self) -> Bool { left.storage == right.storage }

    /// Hashes the fields in their order.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage) }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field, always 0.
    @inlinable
    public var startIndex: Int { 0 }
    /// The number of fields.
    @inlinable
    public var endIndex: Int { storage.count }
    /// The field at a position, in the order of the wire.
    /// - Parameter position: 0..<`endIndex`; any other position traps.
    @inlinable
    public subscript(position: Int) -> HTTPField { storage[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Creates a section from a literal, in its order, duplicates kept.
    public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
        storage = elements.map { HTTPField($0.0, $0.1) }
    }

    /// The fields as `name: value`, one per line.
    public var description: String {
        storage.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
    }
}
