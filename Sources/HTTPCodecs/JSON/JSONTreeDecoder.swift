#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Decodes the values of a `JSONTree` in a fraction of the time that Foundation takes.
///
/// It supports less than Foundation. When it throws, or meets a value that only Foundation reads,
/// such as a date, `JSONBody` decodes the content again with Foundation. All errors are therefore
/// Foundation's, and after a failure `Value.init(from:)` may run twice.
///
/// Its size is two words, so it becomes `any Decoder` without an allocation.
struct JSONTreeDecoder {
    let tree: JSONTree
    let node: Int

    init(_ tree: JSONTree, _ node: Int = 0) {
        (self.tree, self.node) = (tree, node)
    }

    var kind: JSONTree.Kind { tree.nodes[node].kind }

    // MARK: Errors

    /// The error for a value that this decoder does not support and Foundation may.
    func unsupported() -> DecodingError {
        tree.needsFoundation = true
        return .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: ""))
    }

    /// The error for a value of another type; Foundation throws here as well.
    func mismatch(_ type: Any.Type) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "")
        return kind == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func expect(_ wanted: JSONTree.Kind, _ type: Any.Type) throws {
        guard kind == wanted else { throw mismatch(type) }
    }

    // MARK: Values of a node

    func string(_ node: Int) throws -> String {
        guard tree.nodes[node].kind == .string else { throw mismatch(String.self, at: node) }
        guard let text = tree.text(node) else { throw unsupported() }
        return text
    }

    func bool(_ node: Int) throws -> Bool {
        switch tree.nodes[node].kind {
        case .yes: return true
        case .no: return false
        default: throw mismatch(Bool.self, at: node)
        }
    }

    func integer<Value: FixedWidthInteger>(_ node: Int) throws -> Value {
        guard tree.nodes[node].kind == .number else { throw mismatch(Value.self, at: node) }
        guard let value: Value = tree.integer(node) else { throw unsupported() }
        return value
    }

    func double(_ node: Int) throws -> Double {
        guard tree.nodes[node].kind == .number else { throw mismatch(Double.self, at: node) }
        guard let value = tree.double(node) else { throw unsupported() }
        return value
    }

    /// Not supported: `Float` is rare, and left to Foundation.
    func float() throws -> Float { throw unsupported() }

    private func mismatch(_ type: Any.Type, at node: Int) -> DecodingError {
        JSONTreeDecoder(tree, node).mismatch(type)
    }

    /// Decodes any value by its own initializer.
    consuming func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == Date.self || type == Data.self || type == URL.self || type == Decimal.self {
            throw unsupported()
        }
        return try Value(from: self)
    }
}

extension JSONTreeDecoder: Decoder {
    var codingPath: [any CodingKey] { tree.path(to: node) }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try expect(.object, [String: Any].self)
        return KeyedDecodingContainer(JSONMembers<Key>(reader: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try expect(.array, [Any].self)
        return JSONElements(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension JSONTreeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { kind == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try bool(node) }
    func decode(_ type: String.Type) throws -> String { try string(node) }
    func decode(_ type: Double.Type) throws -> Double { try double(node) }
    func decode(_ type: Float.Type) throws -> Float { try float() }
    func decode(_ type: Int.Type) throws -> Int { try integer(node) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(node) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(node) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(node) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(node) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(node) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(node) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(node) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(node) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(node) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
}

/// The position of an element in a coding path.
struct JSONIndex: CodingKey {
    let intValue: Int?

    init(_ index: Int) { intValue = index }
    init?(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }

    var stringValue: String { "Index \(intValue ?? 0)" }
}

/// The name of a member in a coding path.
struct JSONKey: CodingKey {
    let stringValue: String

    init(_ name: String) { stringValue = name }
    init?(intValue: Int) { nil }
    init?(stringValue: String) { self.init(stringValue) }

    var intValue: Int? { nil }
}

/// The members of an object.
private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: JSONTreeDecoder

    var codingPath: [any CodingKey] { reader.codingPath }
    var allKeys: [Key] {
        var seen: Set<String> = []
        return reader.tree.names(of: reader.node).filter { seen.insert($0).inserted }
            .compactMap { Key(stringValue: $0) }
    }

    private func find(_ key: Key) -> Int? {
        reader.tree.member(key.stringValue, of: reader.node)
    }

    private func node(_ key: Key) throws -> Int {
        guard let node = find(key) else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: ""))
        }
        return node
    }

    private func child(_ key: Key) throws -> JSONTreeDecoder {
        JSONTreeDecoder(reader.tree, try node(key))
    }

    func contains(_ key: Key) -> Bool { find(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool {
        reader.tree.nodes[try node(key)].kind == .null
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try reader.bool(node(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try reader.string(node(key))
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try reader.double(node(key))
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).float() }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try reader.integer(node(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try reader.integer(node(key))
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try reader.integer(node(key))
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try reader.integer(node(key))
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try reader.integer(node(key))
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try reader.integer(node(key))
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try reader.integer(node(key))
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try reader.integer(node(key))
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try reader.integer(node(key))
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try reader.integer(node(key))
    }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try child(key).value(type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { throw reader.unsupported() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw reader.unsupported() }
}

/// The elements of an array. It is small enough to become `any UnkeyedDecodingContainer` without
/// an allocation.
private struct JSONElements: UnkeyedDecodingContainer {
    private let tree: JSONTree
    private let array: UInt16
    private var next: UInt16
    private var index: UInt16 = 0

    init(_ reader: JSONTreeDecoder) {
        tree = reader.tree
        array = UInt16(reader.node)
        next = array + 1
    }

    private var length: Int { Int(tree.nodes[Int(array)].end) }
    var codingPath: [any CodingKey] { tree.path(to: Int(array)) }
    var count: Int? { length }
    var currentIndex: Int { Int(index) }
    var isAtEnd: Bool { currentIndex >= length }

    /// The next element.
    private func element(_ type: Any.Type) throws -> JSONTreeDecoder {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: codingPath, debugDescription: ""))
        }
        return JSONTreeDecoder(tree, Int(next))
    }

    private mutating func step() {
        next = tree.nodes[Int(next)].next
        index += 1
    }

    /// Passes the next element to `body`, and moves past the element unless `body` throws.
    @inline(__always)
    private mutating func take<Value>(_ body: (JSONTreeDecoder) throws -> Value) throws -> Value {
        let value = try body(element(Value.self))
        step()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).decodeNil() else { return false }
        step()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try take { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String {
        try take { try $0.decode(type) }
    }
    mutating func decode(_ type: Double.Type) throws -> Double {
        try take { try $0.decode(type) }
    }
    mutating func decode(_ type: Float.Type) throws -> Float { try take { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try take { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try take { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try take { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try take { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try take { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try take { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try take { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try take { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try take { try $0.decode(type) }
    }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try take { try $0.decode(type) }
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try take { try $0.value(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        try take { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        throw JSONTreeDecoder(tree, Int(array)).unsupported()
    }
}
