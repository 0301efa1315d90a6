internal import HTTPParser

/// Constants of the format.
enum ZIPFormat {
    /// The mark in a field of two or four bytes that the value is in the ZIP64 field.
    static let max16: UInt64 = 0xFFFF
    static let max32: UInt64 = 0xFFFF_FFFF
    /// The most bytes of a directory entry without its name: 46, and 9 for the time, and 28 for
    /// lengths and an offset of eight bytes.
    static let entryRoom = 46 + 9 + 28
    /// Bit 11: names are UTF-8. Bit 3: check value and lengths follow the content (section 4.4.4).
    static let textFlag: UInt64 = 1 << 11
    static let descriptorFlag: UInt64 = 1 << 3
    /// Files that are not compressed, and folders, need version 2.0, ZIP64 needs 4.5 (section
    /// 4.4.3).
    static let plainVersion: UInt64 = 20
    static let largeVersion: UInt64 = 45
    /// The archive was made on Unix: the upper half of the external attributes is a file mode.
    static let maker: UInt64 = 3 << 8
}

/// A time in an archive: the MS-DOS fields, in UTC and with a resolution of two seconds, and the
/// exact second in an extra field.
struct ZIPTime: Sendable {
    let seconds: Int64
    let time: UInt64
    let date: UInt64

    init(_ modified: InternetTimestamp) {
        seconds = modified.secondsSinceEpoch
        // 1980-01-01 to 2107-12-31.
        let clamped = min(max(seconds, 315_532_800), 4_354_819_199)
        let civil = CivilTime(secondsSinceEpoch: clamped)
        time = UInt64(civil.hour << 11 | civil.minute << 5 | min(civil.second, 59) / 2)
        date = UInt64((Int(civil.year) - 1980) << 9 | civil.month << 5 | civil.day)
    }

    /// The value of Info-ZIP's field "UT", a signed 32-bit integer; nil for a time out of its
    /// range.
    var extra: Int32? { Int32(exactly: seconds) }
}

/// One record of an archive.
struct ZIPRecord {
    private(set) var bytes: [UInt8] = []

    private mutating func put(_ value: UInt64, _ count: Int) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }

    private mutating func put(_ time: ZIPTime) {
        put(time.time, 2)
        put(time.date, 2)
    }

    /// Writes a value, or the mark that the value is in the ZIP64 field.
    private mutating func put(_ value: UInt64, orMark limit: UInt64, _ count: Int) {
        put(min(value, limit), count)
    }

    private mutating func putExtra(_ time: ZIPTime) {
        guard let seconds = time.extra else { return }
        put(0x5455, 2)
        put(5, 2)
        // The field has the modification time.
        put(1, 1)
        put(UInt64(UInt32(bitPattern: seconds)), 4)
    }

    /// The head of a member (section 4.3.7).
    mutating func local(_ name: [UInt8], _ time: ZIPTime, isFile: Bool, isLarge: Bool) {
        put(0x0403_4B50, 4)
        put(isLarge ? ZIPFormat.largeVersion : ZIPFormat.plainVersion, 2)
        put(ZIPFormat.textFlag | (isFile ? ZIPFormat.descriptorFlag : 0), 2)
        put(0, 2)
        put(time)
        put(0, 4)
        // With a ZIP64 field, these are marks, and the lengths in that field are zero: the
        // descriptor has the lengths.
        let length: UInt64 = isLarge ? ZIPFormat.max32 : 0
        put(length, 4)
        put(length, 4)
        put(UInt64(name.count), 2)
        put((time.extra == nil ? 0 : 9) + (isLarge ? 20 : 0), 2)
        bytes += name
        if isLarge {
            put(1, 2)
            put(16, 2)
            put(0, 8)
            put(0, 8)
        }
        putExtra(time)
    }

    /// The descriptor after the content of a file (section 4.3.9).
    mutating func descriptor(_ checksum: UInt32, _ length: UInt64, isLarge: Bool) {
        put(0x0807_4B50, 4)
        put(UInt64(checksum), 4)
        put(length, isLarge ? 8 : 4)
        put(length, isLarge ? 8 : 4)
    }

    /// A member in the directory (section 4.3.12).
    mutating func entry(
        _ name: [UInt8], _ time: ZIPTime, _ checksum: UInt32, _ length: UInt64, _ offset: UInt64,
        isFile: Bool
    ) {
        let isLong = length >= ZIPFormat.max32
        let isFar = offset >= ZIPFormat.max32
        let large = (isLong ? 16 : 0) + (isFar ? 8 : 0)
        let version = large > 0 ? ZIPFormat.largeVersion : ZIPFormat.plainVersion
        put(0x0201_4B50, 4)
        put(ZIPFormat.maker | version, 2)
        put(version, 2)
        put(ZIPFormat.textFlag | (isFile ? ZIPFormat.descriptorFlag : 0), 2)
        put(0, 2)
        put(time)
        put(UInt64(checksum), 4)
        put(length, orMark: ZIPFormat.max32, 4)
        put(length, orMark: ZIPFormat.max32, 4)
        put(UInt64(name.count), 2)
        put(UInt64((time.extra == nil ? 0 : 9) + (large > 0 ? large + 4 : 0)), 2)
        // No comment, the first disk, binary content.
        put(0, 6)
        put(isFile ? 0o100644 << 16 : 0o040755 << 16 | 0x10, 4)
        put(offset, orMark: ZIPFormat.max32, 4)
        bytes += name
        if large > 0 {
            put(1, 2)
            put(UInt64(large), 2)
            if isLong {
                put(length, 8)
                put(length, 8)
            }
            if isFar { put(offset, 8) }
        }
        putExtra(time)
    }

    /// The end of the directory, after the end record of ZIP64 if a value needs it (sections 4.3.14
    /// to 4.3.16).
    mutating func end(count: UInt64, start: UInt64, length: UInt64) {
        if count >= ZIPFormat.max16 || start >= ZIPFormat.max32 || length >= ZIPFormat.max32 {
            put(0x0606_4B50, 4)
            put(44, 8)
            put(ZIPFormat.maker | ZIPFormat.largeVersion, 2)
            put(ZIPFormat.largeVersion, 2)
            put(0, 8)
            put(count, 8)
            put(count, 8)
            put(length, 8)
            put(start, 8)
            put(0x0706_4B50, 4)
            put(0, 4)
            put(start + length, 8)
            put(1, 4)
        }
        put(0x0605_4B50, 4)
        put(0, 4)
        put(count, orMark: ZIPFormat.max16, 2)
        put(count, orMark: ZIPFormat.max16, 2)
        put(length, orMark: ZIPFormat.max32, 4)
        put(start, orMark: ZIPFormat.max32, 4)
        put(0, 2)
    }
}
