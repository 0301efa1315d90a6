/// A validator that names one state of a representation, such as `"a1b2"` or `W/"a1b2"`.
///
/// Tags are compared octet by octet; `==` also compares the weakness, so use ``strongMatches(_:)``
/// or ``weakMatches(_:)`` for conditions. RFC 9110, section 8.8.3.
public struct EntityTag: Hashable, Sendable {
    /// The tag as written in a field, with its quotes and the prefix `W/` of a weak tag.
    public let bytes: [UInt8]

    /// Creates a tag from the text between the quotes.
    ///
    /// Nil if the text holds white space, a control character or a double quote; it may be empty.
    public init?(opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy(Self.isTagByte) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(opaque.utf8.count + 4)
        if isWeak { bytes += [0x57, 0x2F] }
        bytes.append(0x22)
        bytes += opaque.utf8
        bytes.append(0x22)
        self.bytes = bytes
    }

    /// Parses exactly one tag.
    ///
    /// Nil for anything else: missing quotes, a lower-case `w/`, white space, a second tag.
    public init?(parsing bytes: Span<UInt8>) {
        var reader = FieldValueReader(bytes)
        guard let tag = reader.takeEntityTag(), reader.isAtEnd else { return nil }
        self = tag
    }

    /// Parses exactly one tag.
    ///
    /// Parses the UTF-8 of the text like ``init(parsing:)``.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span)
    }

    /// Creates a tag from bytes that are known to be a tag, with its quotes.
    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether the tag only promises equal meaning, not equal bytes.
    public var isWeak: Bool { bytes.first == 0x57 }

    /// The text between the quotes; invalid UTF-8 becomes U+FFFD.
    public var opaque: String {
        String(decoding: bytes.dropFirst(isWeak ? 3 : 1).dropLast(), as: UTF8.self)
    }

    /// Whether both tags are strong and equal, as ranges and `If-Match` require.
    ///
    /// RFC 9110, section 8.8.3.2.
    public func strongMatches(_ other: EntityTag) -> Bool {
        !isWeak && bytes == other.bytes
    }

    /// Whether both tags are equal when their weakness is ignored, as `If-None-Match` requires.
    ///
    /// RFC 9110, section 8.8.3.2.
    public func weakMatches(_ other: EntityTag) -> Bool {
        bytes.dropFirst(isWeak ? 2 : 0) == other.bytes.dropFirst(other.isWeak ? 2 : 0)
    }

    /// etagc: visible characters except the double quote, and obs-text.
    fileprivate static func isTagByte(_ byte: UInt8) -> Bool {
        byte == 0x21 || (byte >= 0x23 && byte != 0x7F)
    }
}

extension EntityTag: CustomStringConvertible {
    /// The tag as written in a field.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// The value of `If-Match` and `If-None-Match`: a list of tags, or `*` for any.
///
/// RFC 9110, sections 13.1.1 and 13.1.2.
public enum EntityTagCondition: Hashable, Sendable {
    /// `*`: any current representation.
    case any
    /// The tags of the list, in their order; possibly none.
    case tags([EntityTag])

    /// Parses the value of the field.
    ///
    /// Empty list elements are skipped. Nil if an element is not a tag, or if `*` is not alone.
    public init?(parsing bytes: Span<UInt8>) {
        var reader = FieldValueReader(bytes)
        if reader.take(0x2A) {
            guard reader.isAtEnd else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let tag = reader.takeEntityTag(), reader.takeElementEnd() else { return nil }
            tags.append(tag)
            reader.skipEmptyElements()
        }
        self = .tags(tags)
    }

    /// Parses the value of the field.
    ///
    /// Parses the UTF-8 of the text like ``init(parsing:)``.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(parsing: bytes.span)
    }
}

extension FieldValueReader {
    /// Takes an entity tag. Unlike in a quoted string, a backslash in it is an ordinary character.
    fileprivate mutating func takeEntityTag() -> EntityTag? {
        let start = position
        if take(0x57) {
            guard take(0x2F) else { return nil }
        }
        guard take(0x22) else { return nil }
        _ = takeWhile(EntityTag.isTagByte)
        guard take(0x22) else { return nil }
        return EntityTag(checked: copy(start..<position))
    }
}
