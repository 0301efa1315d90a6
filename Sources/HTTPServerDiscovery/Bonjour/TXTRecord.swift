/// The attributes of a DNS-SD service: keys with values of bytes (RFC 6763 section 6).
///
/// ```swift
/// var record = TXTRecord()
/// try record.set("path", "/inbox/")
/// ```
public struct TXTRecord: Hashable, Sendable {
    /// A key, and its value where it has one.
    public struct Entry: Hashable, Sendable {
        /// The key; printable US-ASCII without `=`.
        public let key: String
        /// The value; `nil` for a key that stands alone, which is not the same as an empty value.
        public let value: [UInt8]?
    }

    /// How many bytes all entries may have: more does not fit a packet of Multicast DNS
    /// (RFC 6763 section 6.1). Some 1,300 fit an Ethernet frame and are better.
    public static let byteLimit = 8900

    /// The entries, in the order of the wire.
    public private(set) var entries: [Entry] = []

    /// Creates a record without entries.
    public init() {}

    /// Sets the value of a key, in the place of an earlier one.
    /// - Parameters:
    ///   - key: at least one printable US-ASCII character, no `=`; case does not count.
    ///   - value: bytes of any kind, or `nil` for a key that stands alone.
    /// - Throws: when the key is not allowed, when key, `=` and value are more than 255 bytes, or
    ///   the record gets longer than `byteLimit`; it is unchanged then.
    public mutating func set(_ key: String, _ value: [UInt8]?) throws(TXTRecordError) {
        guard Self.isKey(Array(key.utf8)) else { throw .invalidKey(key) }
        let entry = Entry(key: key, value: value)
        guard entry.byteCount <= 255 else { throw .entryTooLong(key) }
        var changed = entries
        if let index = index(of: key) {
            changed[index] = entry
        } else {
            changed.append(entry)
        }
        guard changed.reduce(0, { $0 + $1.byteCount + 1 }) <= Self.byteLimit else {
            throw .recordTooLong
        }
        entries = changed
    }

    /// Sets the value of a key to text, which travels as UTF-8.
    /// - Parameters:
    ///   - key: at least one printable US-ASCII character, no `=`; case does not count.
    ///   - text: the value.
    /// - Throws: as the other `set`.
    public mutating func set(_ key: String, _ text: String) throws(TXTRecordError) {
        try set(key, Array(text.utf8))
    }

    /// Removes a key and its value, if it is there.
    public mutating func remove(_ key: String) {
        if let index = index(of: key) { entries.remove(at: index) }
    }

    /// Whether there is an entry with this key, with or without a value.
    public func contains(_ key: String) -> Bool { index(of: key) != nil }

    /// The value of a key; `nil` when it has none, or there is no such key.
    public subscript(_ key: String) -> [UInt8]? { index(of: key).flatMap { entries[$0].value } }

    /// The value of a key as text; `nil` also when it is not UTF-8.
    public func text(of key: String) -> String? {
        self[key].flatMap { String(validating: $0, as: UTF8.self) }
    }

    private func index(of key: String) -> Int? {
        let key = Self.folded(key)
        return entries.firstIndex { Self.folded($0.key) == key }
    }

    private static func folded(_ key: String) -> [UInt8] {
        key.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func isKey(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x3D }
    }

    // MARK: On the wire

    /// The record as DNS carries it: each entry behind a byte with its length, and one empty string
    /// when there is none.
    public var bytes: [UInt8] {
        guard !entries.isEmpty else { return [0] }
        var bytes: [UInt8] = []
        for entry in entries {
            bytes.append(UInt8(entry.byteCount))
            bytes += Array(entry.key.utf8)
            if let value = entry.value { bytes += [0x3D] + value }
        }
        return bytes
    }

    /// Reads a record. As the standard wants it, empty strings and strings without a key count as
    /// nothing, and of entries with the same key the first one counts.
    /// - Parameter bytes: the record as DNS carries it.
    /// - Throws: when a string is longer than what is left, or the record than `byteLimit`.
    public init(bytes: [UInt8]) throws(TXTRecordError) {
        guard bytes.count <= Self.byteLimit else { throw .recordTooLong }
        var keys: Set<[UInt8]> = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            guard rest.count >= Int(length) else { throw .truncated }
            let string = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let parts = string.split(
                separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, Self.isKey(Array(key)) else { continue }
            let entry = Entry(
                key: String(decoding: key, as: UTF8.self),
                value: parts.count > 1 ? Array(parts[1]) : nil)
            if keys.insert(Self.folded(entry.key)).inserted { entries.append(entry) }
        }
    }
}

extension TXTRecord.Entry {
    fileprivate var byteCount: Int { key.utf8.count + (value.map { $0.count + 1 } ?? 0) }
}

/// Why something cannot be in a TXT record, or is none.
public enum TXTRecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key is empty or has characters that are not allowed.
    case invalidKey(String)
    /// The entry of this key would have more than 255 bytes.
    case entryTooLong(String)
    /// The record would have more than `TXTRecord.byteLimit` bytes.
    case recordTooLong
    /// The bytes end inside a string.
    case truncated

    /// One line that says what and where.
    public var description: String {
        switch self {
        case .invalidKey(let key): "TXT record: the key \"\(key)\" is not allowed"
        case .entryTooLong(let key): "TXT record: the entry \"\(key)\" is longer than 255 bytes"
        case .recordTooLong: "TXT record: longer than \(TXTRecord.byteLimit) bytes"
        case .truncated: "TXT record: ends inside a string"
        }
    }
}
