internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The validators of a file (RFC 9110 section 8.8).
struct Validators: Sendable {
    /// A strong tag, quoted: inode, size, modification time and change time, in nanoseconds. A
    /// change in place that keeps the size and resets the modification time still has another
    /// change time.
    let tagText: String
    /// Last-Modified, which must not be later than Date (RFC 9110 section 8.8.2.1).
    let dateText: String
    /// The time of Last-Modified, with which the dates of conditions are compared.
    let modified: HTTPDate

    init(_ status: FileStatus) {
        let now = Syscalls.realtime().seconds
        var seconds = status.modifiedSeconds
        // A modification time in the future was set by a program. The change time is used instead,
        // because it stays the same in later answers.
        if seconds > now { seconds = min(status.changedSeconds, now) }
        modified = HTTPDate(secondsSinceEpoch: seconds)
        dateText = modified.description
        tagText = Self.tag(of: status)
    }

    private static func tag(of status: FileStatus) -> String {
        let times =
            UInt64(
                bitPattern: status.modifiedSeconds &* 1_000_000_000 &+ status.modifiedNanoseconds)
        let changed =
            UInt64(bitPattern: status.changedSeconds &* 1_000_000_000 &+ status.changedNanoseconds)
        return unsafe String(unsafeUninitializedCapacity: 72) { room in
            var count = 0
            unsafe Self.write(status.inode, "\"", room, &count)
            unsafe Self.write(UInt64(bitPattern: status.size), "-", room, &count)
            unsafe Self.write(times, "-", room, &count)
            // Both times are nearly always equal; write the second only if it differs.
            if changed != times { unsafe Self.write(changed, "-", room, &count) }
            unsafe room[count] = UInt8(ascii: "\"")
            return count + 1
        }
    }

    /// Writes a separator and a number in hexadecimal digits: at most 17 bytes.
    private static func write(
        _ number: UInt64, _ separator: Unicode.Scalar, _ room: UnsafeMutableBufferPointer<UInt8>,
        _ count: inout Int
    ) {
        unsafe room[count] = UInt8(ascii: separator)
        count += 1
        var shift = number == 0 ? 0 : (63 - number.leadingZeroBitCount) & ~3
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift)) & 15
            unsafe room[count] = digit < 10 ? 0x30 + digit : 0x57 + digit
            count += 1
            shift -= 4
        }
    }

    var state: CurrentState {
        CurrentState(entityTag: EntityTag(tagText), lastModified: modified)
    }
}

extension Preconditions {
    /// The conditions of a request; `nil` if it has none.
    init?(_ request: borrowing Request) {
        guard request.hasConditions else { return nil }
        let fields = request.fields
        self.init(
            ifMatch: fields.list(.ifMatch), ifNoneMatch: fields.list(.ifNoneMatch),
            ifModifiedSince: fields[.ifModifiedSince],
            ifUnmodifiedSince: fields[.ifUnmodifiedSince], ifRange: fields[.ifRange],
            hasRange: fields.contains(.range))
    }
}
