/// Reads the head of a gzip member, byte by byte, and discards it.
///
/// RFC 1952, section 2.3.
struct GzipHead {
    /// The part of the head that the next byte belongs to.
    private enum Part {
        case magic, method, flags, fixed, extraLength, extra, name, comment, check
    }

    private var part = Part.magic
    private var flags: UInt8 = 0
    /// Bytes of the head so far.
    private(set) var length = 0
    /// Bytes of the part so far.
    private var partLength = 0
    /// A number of two bytes, low byte first: the length of the extra field, or the check value.
    private var number = 0
    private var crc = ZChecksum.crc

    /// Takes the next byte.
    /// - Returns: whether it was the last one.
    mutating func take(_ byte: UInt8) throws(Fault) -> Bool {
        // The check value covers all bytes before it. Until the flags are read, it may be present.
        if part != .check, length < 4 || flags & 0x02 != 0 { crc.update(byte) }
        length += 1
        partLength += 1
        switch part {
        case .magic: return try takeMagic(byte)
        case .method: return try takeMethod(byte)
        case .flags: return try takeFlags(byte)
        // Time (4), effort, system.
        case .fixed: return partLength == 6 ? enter(.extraLength) : false
        case .extraLength: return takeExtraLength(byte)
        case .extra: return partLength == number ? enter(.name) : false
        case .name: return byte == 0 ? enter(.comment) : false
        case .comment: return byte == 0 ? enter(.check) : false
        case .check: return try takeCheck(byte)
        }
    }

    /// Enters a part, or the next one that the flags announce.
    /// - Returns: whether no part follows, so that the head is complete.
    private mutating func enter(_ next: Part) -> Bool {
        partLength = 0
        part = next
        switch next {
        case .extraLength where flags & 0x04 == 0: return enter(.name)
        case .name where flags & 0x08 == 0: return enter(.comment)
        case .comment where flags & 0x10 == 0: return enter(.check)
        case .check where flags & 0x02 == 0: return true
        default: return false
        }
    }

    private mutating func takeMagic(_ byte: UInt8) throws(Fault) -> Bool {
        guard byte == (partLength == 1 ? 0x1F : 0x8B) else { throw .magic }
        return partLength == 2 ? enter(.method) : false
    }

    private mutating func takeMethod(_ byte: UInt8) throws(Fault) -> Bool {
        guard byte == 8 else { throw .method }
        return enter(.flags)
    }

    private mutating func takeFlags(_ byte: UInt8) throws(Fault) -> Bool {
        // The three highest flags are reserved and must be zero (section 2.3.1.2).
        guard byte & 0xE0 == 0 else { throw .flags }
        flags = byte
        return enter(.fixed)
    }

    private mutating func takeExtraLength(_ byte: UInt8) -> Bool {
        number |= Int(byte) << (8 * (partLength - 1))
        guard partLength == 2 else { return false }
        return enter(number > 0 ? .extra : .name)
    }

    private mutating func takeCheck(_ byte: UInt8) throws(Fault) -> Bool {
        // `number` may still be the length of the extra field.
        number = partLength == 1 ? Int(byte) : number | Int(byte) << 8
        guard partLength == 2 else { return false }
        guard number == Int(crc.value & 0xFFFF) else { throw .check }
        return true
    }
}

extension GzipHead {
    /// The kind of an error in a head.
    enum Fault: Error {
        case magic, method, flags, check
    }
}
