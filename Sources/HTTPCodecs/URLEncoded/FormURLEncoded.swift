/// The names and values of a form or of a query: ordered, duplicates kept.
///
/// Reads and writes `application/x-www-form-urlencoded` by the URL standard: `&` separates pairs, a
/// pair without `=` has an empty value, empty pairs are skipped, and `+` is a space.
///
/// ```swift
/// let form = try FormURLEncoded(query: "tag=a&tag=b&q=x+y%21")
/// form["q"]                 // "x y!"
/// form.values(of: "tag")    // ["a", "b"]
/// FormURLEncoded([("name", "Jo & Co")]).description   // "name=Jo+%26+Co"
/// ```
///
/// The parsed form is stored as bytes in one array and converted to text on request. Names are
/// compared as UTF-8, byte by byte, in a linear search, so no choice of names slows it down.
public struct FormURLEncoded: Sendable {
    /// One name and its value.
    public struct Pair: Hashable, Sendable {
        /// The name, with U+FFFD for bytes that are not UTF-8.
        public var name: String
        /// The value, with U+FFFD for bytes that are not UTF-8.
        public var value: String

        /// Creates a pair.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Whether names and values have the same bytes.
        public static func == (left: Self, right: Self) -> Bool {
            left.name.hasBytes(of: right.name) && left.value.hasBytes(of: right.value)
        }

        /// Hashes the bytes of name and value.
        public func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
            hasher.combine(0xFF as UInt8)
            for byte in value.utf8 { hasher.combine(byte) }
        }
    }

    /// The range of a pair in `bytes`: its name, then its value.
    struct Extent: Sendable {
        var start: Int
        var nameEnd: Int
        var end: Int
    }

    var bytes: [UInt8] = []
    var extents: [Extent] = []

    /// Creates a form without pairs.
    public init() {}

    /// Creates a form from pairs, in their order.
    public init(_ pairs: some Sequence<(String, String)>) {
        for (name, value) in pairs { append(name, value) }
    }

    /// The value of the first pair with this name, or `nil` without one.
    ///
    /// Setting a value replaces all pairs of this name by one pair, at the position of the first;
    /// setting `nil` removes them.
    public subscript(name: String) -> String? {
        get {
            let name = Array(name.utf8)
            return extents.first { isNamed($0, name) }.map { text($0.nameEnd..<$0.end) }
        }
        set {
            let wanted = Array(name.utf8)
            let first = extents.firstIndex { isNamed($0, wanted) }
            extents = extents.filter { !isNamed($0, wanted) }
            guard let newValue else { return }
            append(name, newValue)
            guard let first, first < extents.count - 1 else { return }
            extents.insert(extents.removeLast(), at: first)
        }
    }

    /// The values of all pairs with this name, in order.
    public func values(of name: String) -> [String] {
        let name = Array(name.utf8)
        return extents.filter { isNamed($0, name) }.map { text($0.nameEnd..<$0.end) }
    }

    /// Whether there is a pair with this name.
    public func contains(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return extents.contains { isNamed($0, name) }
    }

    /// Adds a pair after the others.
    public mutating func append(_ name: String, _ value: String) {
        append(name: name.utf8, value: value.utf8)
    }

    /// Adds a pair of bytes, which may not be UTF-8, after the others.
    public mutating func append(
        name: some Collection<UInt8>, value: some Collection<UInt8>
    ) {
        let start = bytes.count
        bytes.append(contentsOf: name)
        let nameEnd = bytes.count
        bytes.append(contentsOf: value)
        extents.append(Extent(start: start, nameEnd: nameEnd, end: bytes.count))
    }

    /// The bytes of the name at a position, percent-decoded; nothing is copied.
    public func nameBytes(at position: Int) -> ArraySlice<UInt8> {
        bytes[extents[position].start..<extents[position].nameEnd]
    }

    /// The bytes of the value at a position, percent-decoded; nothing is copied.
    public func valueBytes(at position: Int) -> ArraySlice<UInt8> {
        bytes[extents[position].nameEnd..<extents[position].end]
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private func isNamed(_ extent: Extent, _ name: [UInt8]) -> Bool {
        guard extent.nameEnd - extent.start == name.count else { return false }
        for index in name.indices where bytes[extent.start + index] != name[index] {
            return false
        }
        return true
    }
}

extension FormURLEncoded: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of pairs.
    public var endIndex: Int { extents.count }
    /// The pair at a position, in the order of the form.
    public subscript(position: Int) -> Pair {
        let extent = extents[position]
        return Pair(
            name: text(extent.start..<extent.nameEnd), value: text(extent.nameEnd..<extent.end))
    }
}

extension FormURLEncoded: Hashable {
    /// Whether both have the same pairs, byte by byte, in the same order.
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count
            && left.indices.allSatisfy {
                left.nameBytes(at: $0) == right.nameBytes(at: $0)
                    && left.valueBytes(at: $0) == right.valueBytes(at: $0)
            }
    }

    /// Feeds what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        for position in indices {
            hasher.combine(nameBytes(at: position))
            hasher.combine(valueBytes(at: position))
        }
    }
}

extension FormURLEncoded: ExpressibleByDictionaryLiteral {
    /// Creates a form from a literal, in its order, duplicates kept.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements)
    }
}
