internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The validators of a file (RFC 9110 section 8.8).
struct Validators: Sendable {
    /// A strong tag, quoted: inode, size and both times to the nanosecond. A change in place
    /// that keeps the size and sets the modification time back still moves the change time.
    let tagText: String
    /// Last-Modified, which must not be later than Date (RFC 9110 section 8.8.2.1).
    let dateText: String
    /// The same time, which is what conditions are compared with: a client hands it back.
    let modified: HTTPDate

    init(_ status: FileStatus) {
        let now = Syscalls.realtime().seconds
        var seconds = status.modifiedSeconds
        // A modification time in the future was set on purpose: the moment of the change is known,
        // and the time stays the same in later answers.
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
            // Nearly always both times are the same and say nothing more.
            if changed != times { unsafe Self.write(changed, "-", room, &count) }
            unsafe room[count] = UInt8(ascii: "\"")
            return count + 1
        }
    }

    /// A separator and a number in hexadecimal digits: 17 bytes at the most.
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
    /// The conditions of a request, or `nil` when it has none.
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
