internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The path of a resource below the root of its store, as decoded segments.
public struct ResourcePath: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The segments joined by slashes, without a leading or trailing slash; empty for the root.
    public let bytes: [UInt8]

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The root of the store.
    public static let root = ResourcePath(bytes: [])

    /// Creates a path.
    /// - Parameter segments: names, not percent-encoded.
    /// - Returns: `nil` when a segment is empty, `.` or `..`, or contains a slash or NUL, which no
    ///   system allows in names.
    public init?(segments: [[UInt8]]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(segments.reduce(segments.count) { $0 + $1.count })
        for segment in segments {
            guard Self.isName(segment) else { return nil }
            if !bytes.isEmpty { bytes.append(0x2F) }
            bytes += segment
        }
        self.bytes = bytes
    }

    /// Whether a segment may consist of these bytes.
    private static func isName(_ segment: [UInt8]) -> Bool {
        guard !segment.isEmpty, segment != [0x2E], segment != [0x2E, 0x2E] else { return false }
        return !segment.contains { $0 == 0x2F || $0 == 0 }
    }

    /// Whether a name is text: UTF-8 without control characters. Clients may create only such
    /// names. Other names, made by programs of the same machine, are accessible nevertheless.
    package static func isText(_ name: [UInt8]) -> Bool {
        var all: UInt8 = 0
        for byte in name {
            guard byte >= 0x20, byte != 0x7F else { return false }
            all |= byte
        }
        return all < 0x80 || String(validating: name, as: UTF8.self) != nil
    }

    /// Creates a path from text such as `folder/name`.
    /// - Returns: `nil` if a segment is `.` or `..`, or contains NUL.
    public init?(_ text: String) {
        let segments = text.utf8.split(separator: 0x2F).map { Array($0) }
        self.init(segments: segments)
    }

    /// Whether a segment begins with a dot.
    package var hasDotName: Bool { ReservedNames.hidesIn(bytes.span) }

    /// Whether a segment is a name that macOS uses for metadata of other files.
    var hasAppleName: Bool { bytes.split(separator: 0x2F).contains { Self.isAppleName($0) } }

    /// Whether a name begins with `._`, or is `.DS_Store`.
    static func isAppleName(_ name: ArraySlice<UInt8>) -> Bool {
        name.starts(with: "._".utf8) || name.elementsEqual(".DS_Store".utf8)
    }

    /// Whether this is the root of the store.
    public var isRoot: Bool { bytes.isEmpty }

    /// The segments, from the root on.
    public var segments: [[UInt8]] { bytes.split(separator: 0x2F).map { Array($0) } }

    /// The last segment; empty for the root.
    public var name: [UInt8] {
        bytes.lastIndex(of: 0x2F).map { Array(bytes[($0 + 1)...]) } ?? bytes
    }

    /// The path of the parent collection; `nil` for the root.
    public var parent: ResourcePath? {
        guard !isRoot else { return nil }
        return ResourcePath(bytes: bytes.lastIndex(of: 0x2F).map { Array(bytes[..<$0]) } ?? [])
    }

    /// The path of the first bytes; they must end where a segment ends.
    func prefix(_ length: Int) -> ResourcePath { ResourcePath(bytes: Array(bytes[..<length])) }

    /// Calls `body` for the root, each further ancestor from the outside in, and the path itself,
    /// with the length of its bytes and their hash. This takes one pass over the bytes, because the
    /// hash of a path continues the hash of its parent.
    func forEachPrefix(_ body: (_ length: Int, _ hash: Int) -> Void) {
        var hasher = Hasher()
        var end = 0
        while true {
            let hashed = hasher
            body(end, hashed.finalize())
            guard end < bytes.count else { return }
            let next = bytes[(end + 1)...].firstIndex(of: 0x2F) ?? bytes.count
            unsafe bytes[end..<next].withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
            end = next
        }
    }

    /// A member of the collection at this path. The name is not checked: it must be a name of the
    /// store.
    public func appending(_ name: [UInt8]) -> ResourcePath {
        ResourcePath(bytes: isRoot ? name : bytes + [0x2F] + name)
    }

    /// Whether this path is the same as the other one, or inside of it.
    public func isWithin(_ other: ResourcePath) -> Bool {
        guard bytes.count > other.bytes.count else { return bytes == other.bytes }
        return other.isRoot || (bytes[other.bytes.count] == 0x2F && bytes.starts(with: other.bytes))
    }

    /// The path after a move from `old` to `new`; this path must be within `old`.
    package func moved(from old: ResourcePath, to new: ResourcePath) -> ResourcePath {
        guard self != old else { return new }
        let rest = old.isRoot ? bytes[...] : bytes[(old.bytes.count + 1)...]
        return new.isRoot
            ? ResourcePath(bytes: Array(rest)) : ResourcePath(bytes: new.bytes + [0x2F] + rest)
    }

    /// Whether all bytes are ASCII.
    var isASCII: Bool { bytes.allSatisfy { $0 < 0x80 } }

    /// The percent-encoded path, without a leading slash.
    var encoded: String { PathEncoding.path(bytes) }

    /// Hashes all bytes in one call; an array would hash them one after the other.
    public func hash(into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }

    /// An order in which a collection is directly followed by everything inside of it.
    public static func < (left: ResourcePath, right: ResourcePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes) { order($0) < order($1) }
    }

    private static func order(_ byte: UInt8) -> UInt8 { byte == 0x2F ? 0 : byte }

    /// The path as text.
    public var description: String { "/" + String(decoding: bytes, as: UTF8.self) }
}

extension Array where Element: Comparable {
    /// The index of an element in a sorted array, or the index at which to insert it.
    func position(of element: Element) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
