#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The text that all writers of a value share.
final class JSONSink {
    /// The object or array that the outermost value has opened.
    fileprivate var container: JSONTextEncoder.Container?
    @exclusivity(unchecked)
    private var written = JSONText()

    /// Accesses are not checked: each lasts for one call, which calls nothing back.
    var text: JSONText {
        _read { yield unsafe written }
        _modify { yield unsafe &written }
    }
}

/// Encodes values in a fraction of the time that Foundation takes.
///
/// It supports less: when it throws, or meets something that only Foundation writes, `JSONBody`
/// encodes the value with Foundation. Examples are a date, a repeated name, or a container that is
/// written to after another one has begun.
///
/// Its size is two words, so it becomes `any Encoder` without an allocation.
struct JSONTextEncoder: Encoder {
    private struct Stop: Error {}

    /// An object or array that a value has opened.
    struct Container {
        var number: Int
        var isObject: Bool
    }

    /// A value inside of another one.
    private final class Inner {
        let outer: Inner?
        let key: (any CodingKey)?
        let depth: Int
        var container: Container?

        init(in outer: Inner?, key: (any CodingKey)?, depth: Int) {
            (self.outer, self.key, self.depth) = (outer, key, depth)
        }

        var path: [any CodingKey] { (outer?.path ?? []) + (key.map { [$0] } ?? []) }
    }

    let sink: JSONSink
    /// `nil` for the outermost value.
    private let inner: Inner?

    /// The JSON of a value; `nil` if Foundation has to write it, or to throw.
    static func bytes(of value: some Encodable) -> [UInt8]? {
        let sink = JSONSink()
        do {
            try JSONTextEncoder(sink).write(value)
        } catch {
            return nil
        }
        return sink.text.needsFoundation ? nil : sink.text.bytes
    }

    private init(_ sink: JSONSink) {
        (self.sink, inner) = (sink, nil)
    }

    /// Creates the encoder of a value inside of the value that `outer` writes.
    fileprivate init(in outer: JSONTextEncoder, key: (any CodingKey)? = nil) {
        sink = outer.sink
        inner = Inner(in: outer.inner, key: key, depth: sink.text.depth)
    }

    private var depth: Int { inner?.depth ?? 0 }

    private var container: Container? {
        get {
            if let inner { inner.container } else { sink.container }
        }
        nonmutating set {
            if let inner { inner.container = newValue } else { sink.container = newValue }
        }
    }

    var codingPath: [any CodingKey] { inner?.path ?? [] }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private func open(isObject: Bool) -> Int {
        if let container {
            if container.isObject != isObject { sink.text.giveUp() }
            return container.number
        }
        let number = sink.text.open(isObject: isObject)
        container = Container(number: number, isObject: isObject)
        return number
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let number = open(isObject: true)
        return KeyedEncodingContainer(
            JSONObjectWriter<Key>(writer: self, number: number, depth: depth + 1))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let number = open(isObject: false)
        return JSONArrayWriter(writer: self, number: number, depth: depth + 1)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// Writes a value by its `encode(to:)`.
    func write(_ value: some Encodable) throws {
        let type = type(of: value)
        if type == Date.self || type == Data.self || type == URL.self || type == Decimal.self {
            sink.text.giveUp()
        }
        // Stop: Foundation writes the whole value.
        if sink.text.needsFoundation { throw Stop() }
        let before = sink.text.bytes.count
        try value.encode(to: self)
        // Leave a value that encodes nothing to Foundation.
        if sink.text.bytes.count == before { sink.text.giveUp() }
        sink.text.close(to: depth)
    }
}

extension JSONTextEncoder: SingleValueEncodingContainer {
    func encodeNil() { sink.text.write(word: "null") }
    func encode(_ value: Bool) { sink.text.write(word: value ? "true" : "false") }
    func encode(_ value: String) { sink.text.write(value) }
    func encode(_ value: Double) { sink.text.write(value) }
    func encode(_ value: Float) { sink.text.write(value) }
    func encode(_ value: Int) { sink.text.write(value) }
    func encode(_ value: Int8) { sink.text.write(value) }
    func encode(_ value: Int16) { sink.text.write(value) }
    func encode(_ value: Int32) { sink.text.write(value) }
    func encode(_ value: Int64) { sink.text.write(value) }
    func encode(_ value: UInt) { sink.text.write(value) }
    func encode(_ value: UInt8) { sink.text.write(value) }
    func encode(_ value: UInt16) { sink.text.write(value) }
    func encode(_ value: UInt32) { sink.text.write(value) }
    func encode(_ value: UInt64) { sink.text.write(value) }
    func encode(_ value: some Encodable) throws {
        try JSONTextEncoder(in: self).write(value)
    }
}

/// The members of an object.
private struct JSONObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: JSONTextEncoder
    let number: Int
    let depth: Int

    var codingPath: [any CodingKey] { writer.codingPath }

    /// The text, if the member can be written to it.
    private func begin(_ key: Key) -> JSONSink? {
        let name = key.stringValue
        return writer.sink.text.begin(number, at: depth, name: name) ? writer.sink : nil
    }

    private func child(_ key: Key) -> JSONTextEncoder {
        _ = begin(key)
        return JSONTextEncoder(in: writer, key: key)
    }

    func encodeNil(forKey key: Key) { begin(key)?.text.write(word: "null") }
    func encode(_ value: Bool, forKey key: Key) {
        begin(key)?.text.write(word: value ? "true" : "false")
    }
    func encode(_ value: String, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Double, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Float, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Int, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Int8, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Int16, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Int32, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: Int64, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: UInt, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: UInt8, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: UInt16, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: UInt32, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: UInt64, forKey key: Key) { begin(key)?.text.write(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).write(value) }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        writer.sink.text.giveUp()
        return writer
    }

    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// The elements of an array.
private struct JSONArrayWriter: UnkeyedEncodingContainer {
    let writer: JSONTextEncoder
    let number: Int
    let depth: Int
    private(set) var count = 0

    init(writer: JSONTextEncoder, number: Int, depth: Int) {
        (self.writer, self.number, self.depth) = (writer, number, depth)
    }

    var codingPath: [any CodingKey] { writer.codingPath }

    private mutating func begin() -> JSONSink? {
        count += 1
        return writer.sink.text.begin(number, at: depth, name: nil) ? writer.sink : nil
    }

    private mutating func child() -> JSONTextEncoder {
        _ = begin()
        return JSONTextEncoder(in: writer, key: JSONIndex(count - 1))
    }

    mutating func encodeNil() { begin()?.text.write(word: "null") }
    mutating func encode(_ value: Bool) { begin()?.text.write(word: value ? "true" : "false") }
    mutating func encode(_ value: String) { begin()?.text.write(value) }
    mutating func encode(_ value: Double) { begin()?.text.write(value) }
    mutating func encode(_ value: Float) { begin()?.text.write(value) }
    mutating func encode(_ value: Int) { begin()?.text.write(value) }
    mutating func encode(_ value: Int8) { begin()?.text.write(value) }
    mutating func encode(_ value: Int16) { begin()?.text.write(value) }
    mutating func encode(_ value: Int32) { begin()?.text.write(value) }
    mutating func encode(_ value: Int64) { begin()?.text.write(value) }
    mutating func encode(_ value: UInt) { begin()?.text.write(value) }
    mutating func encode(_ value: UInt8) { begin()?.text.write(value) }
    mutating func encode(_ value: UInt16) { begin()?.text.write(value) }
    mutating func encode(_ value: UInt32) { begin()?.text.write(value) }
    mutating func encode(_ value: UInt64) { begin()?.text.write(value) }
    mutating func encode(_ value: some Encodable) throws { try child().write(value) }

    mutating func nestedContainer<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedEncodingContainer<Key> {
        child().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        child().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        writer.sink.text.giveUp()
        return writer
    }
}
