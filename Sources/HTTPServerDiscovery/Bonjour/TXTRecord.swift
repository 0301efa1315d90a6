/// The attributes of a DNS-SD service: keys with values of bytes (RFC 6763 section 6).
///
/// ```swift
/// var record = TXTRecord()
/// try record.set("path", "/inbox/")
/// ```
public struct TXTRecord: Hashable, Sendable {
    /// A key and an optional value.
    public struct Entry: Hashable, Sendable {
        /// The key; printable US-ASCII without `=`.
        public let key: String
        /// The value; `nil` for a key without `=`, which differs from an empty value.
        public let value: [UInt8]?
    }

    /// The most bytes of all entries: more do not fit a packet of Multicast DNS (RFC 6763 section
    /// 6.1). Up to some 1,300 fit an Ethernet frame, which is better.
    public static let byteLimit = 8900

    /// The entries, in the order of the wire.
    public private(set) var entries: [Entry] = []

    /// Creates a record without entries.
    public init() {}

    /// Sets the value of a key, and replaces an earlier value.
    /// - Parameters:
    ///   - key: at least one printable US-ASCII character, without `=`; case is ignored.
    ///   - value: any bytes, or `nil` for a key without a value.
    /// - Throws: if the key is invalid, if key, `=` and value have more than 255 bytes, or if the
    ///   record would be longer than `byteLimit`; the record is then unchanged.
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

    /// Sets the value of a key to text, encoded as UTF-8.
    /// - Parameters:
    ///   - key: at least one printable US-ASCII character, without `=`; case is ignored.
    ///   - text: the value.
    /// - Throws: the errors of the other `set`.
    public mutating func set(_ key: String, _ text: String) throws(TXTRecordError) {
        try set(key, Array(text.utf8))
    }

    /// Removes a key and its value, if present.
    public mutating func remove(_ key: String) {
        if let index = index(of: key) { entries.remove(at: index) }
    }

    /// Whether there is an entry with this key, with or without a value.
    public func contains(_ key: String) -> Bool { index(of: key) != nil }

    /// The value of a key; `nil` if it has none, or the key is missing.
    public subscript(_ key: String) -> [UInt8]? { index(of: key).flatMap { entries[$0].value } }

    /// The value of a key as text; `nil` also if it is not UTF-8.
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

    /// The record in the form of DNS: each entry after a byte with its length; a single empty
    /// string if there are no entries.
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

    /// Reads a record. As RFC 6763 requires, empty strings and strings without a key are ignored,
    /// and the first of several entries with one key is used.
    /// - Parameter bytes: the record in the form of DNS.
    /// - Throws: if a string is longer than the remaining bytes, or the record longer than
    ///   `byteLimit`.
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

/// An error in a TXT record.
public enum TXTRecordError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key is empty or has characters that are not allowed.
    case invalidKey(String)
    /// The entry of this key would have more than 255 bytes.
    case entryTooLong(String)
    /// The record would have more than `TXTRecord.byteLimit` bytes.
    case recordTooLong
    /// The bytes end inside a string.
    case truncated

    /// The error in one line.
    public var description: String {
        switch self {
        case .invalidKey(let key): "TXT record: the key \"\(key)\" is not allowed"
        case .entryTooLong(let key): "TXT record: the entry \"\(key)\" is longer than 255 bytes"
        case .recordTooLong: "TXT record: longer than \(TXTRecord.byteLimit) bytes"
        case .truncated: "TXT record: ends inside a string"
        }
    }
}
