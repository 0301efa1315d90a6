/// Scans the plain lines of a head: the inner loop of `HeadParser`, and the hottest loop of the
/// module.
///
/// The scan stops before the first line that is not plain, and leaves it to the reference path.
///
/// The loop never depends on the content of a line: the stops of a window show where the next line
/// begins. The windows form a grid that begins with the first line. A start line is therefore only
/// skipped here; the caller parses it.
@safe
struct FieldLineScanner {
    /// The offset of the first line that was not taken.
    private(set) var position: Int
    /// The number of field lines that were taken.
    private(set) var count = 0
    /// The offset of the window that `stops` describes.
    private var windowStart: Int
    /// The line stops of the window that are still to be visited, one bit per byte.
    private var stops: UInt64

    /// - Parameters:
    ///   - position: the offset of the first line.
    ///   - memoryEnd: the end of readable memory, at least 64.
    @inline(__always)
    init(_ base: UnsafeRawPointer, from position: Int, memoryEnd: Int) {
        self.position = position
        windowStart = position
        stops = unsafe Scanner.lineStops64(base, position, end: memoryEnd)
    }

    /// Skips the start line.
    /// - Parameter readable: the end of the bytes in which lines may be found.
    /// - Returns: the end of the line's content, or `nil` if no plain line is found.
    @inline(__always)
    mutating func passStartLine(
        _ base: UnsafeRawPointer, readable: Int, memoryEnd: Int
    ) -> Int? {
        while stops == 0 {
            windowStart &+= 64
            guard windowStart &+ 4 <= readable else { return nil }
            stops = unsafe Scanner.lineStops64(base, windowStart, end: memoryEnd)
        }
        let lineEnd = windowStart &+ stops.trailingZeroBitCount
        guard lineEnd &+ 4 <= readable, unsafe Scanner.isLineEnd(base, lineEnd) else { return nil }
        stops = Self.withoutLowest(Self.withoutLowest(stops))
        position = lineEnd &+ 2
        return lineEnd
    }

    /// Takes field lines, up to the first that is not plain or to the empty line.
    /// - Parameters:
    ///   - readable: the end of the bytes in which lines may be found.
    ///   - memoryEnd: the end of readable memory.
    ///   - slots: the memory for the slots of the lines.
    ///   - room: the number of slots that fit.
    @inline(__always)
    mutating func takeFields(
        _ base: UnsafeRawPointer, readable: Int, memoryEnd: Int,
        slots: UnsafeMutablePointer<FieldSlot>, room: Int
    ) {
        (position, count) = unsafe Self.fields(
            base, position, windowStart, stops, slots, slots + room, readable &- 3, memoryEnd)
    }

    /// A separate function, so that its state fits into registers.
    @inline(never)
    private static func fields(
        _ base: UnsafeRawPointer, _ first: Int, _ firstWindow: Int, _ firstStops: UInt64,
        _ slots: UnsafeMutablePointer<FieldSlot>, _ slotLimit: UnsafeMutablePointer<FieldSlot>,
        _ lastEnd: Int, _ memoryEnd: Int
    ) -> (position: Int, count: Int) {
        var position = first
        var windowStart = firstWindow
        var stops = firstStops
        var slot = unsafe slots
        walk: while unsafe slot < slotLimit {
            // Goes from one line stop to the next, because a value may contain HTAB and obs-text.
            var lineEnd: Int
            while true {
                if stops == 0 {
                    windowStart &+= 64
                    guard windowStart < lastEnd else { break walk }
                    stops = unsafe Scanner.lineStops64(base, windowStart, end: memoryEnd)
                    // The LF that ended the previous line may be the first byte of the window.
                    if position > windowStart { stops &= ~1 }
                    continue
                }
                lineEnd = windowStart &+ stops.trailingZeroBitCount
                // Two bytes end a line, and the next two may end the section.
                guard lineEnd < lastEnd else { break walk }
                stops = Self.withoutLowest(stops)
                if unsafe Scanner.isLineEnd(base, lineEnd) { break }
                guard unsafe ByteClass.isFieldContent(Scanner.byte(base, lineEnd)) else {
                    break walk
                }
            }
            stops = Self.withoutLowest(stops)
            // Only the last line of a head may be this near to the end of memory. With a name, the
            // line and the empty line after it have at least the eight bytes that `candidate`
            // reads; an empty name is left to the reference path.
            guard position &+ 16 <= memoryEnd else {
                let nameStops = unsafe Scanner.nameStops16(base, position, end: memoryEnd)
                let nameEnd = position &+ nameStops.trailingZeroBitCount
                guard nameStops != 0, nameEnd > position, unsafe isPlain(base, nameEnd, lineEnd)
                else { break }
                unsafe slot.pointee = Self.slot(position, nameEnd, lineEnd)
                unsafe slot += 1
                position = lineEnd &+ 2
                break
            }
            var nameStops = unsafe Scanner.nameStops(Scanner.vector(base, position))
            var nameEnd = position
            if nameStops == 0 {
                nameEnd &+= 16
                nameStops = unsafe Scanner.nameStops16(base, nameEnd, end: memoryEnd)
                // Names of 32 bytes and more are left to the reference path.
                if nameStops == 0 { break }
            }
            nameEnd &+= nameStops.trailingZeroBitCount
            guard unsafe isPlain(base, nameEnd, lineEnd) else { break }
            unsafe slot.pointee = Self.slot(position, nameEnd, lineEnd)
            unsafe slot += 1
            position = lineEnd &+ 2
            if unsafe Scanner.isLineEnd(base, position) { break }
        }
        return unsafe (position, slot - slots)
    }

    /// Whether the name is followed by a colon, one space, and a value that is not empty and has no
    /// white space around it.
    ///
    /// A name contains no CR, so a colon at `nameEnd` precedes the end of the line. The only bytes
    /// of a value that are not above SP are SP and HTAB.
    @inline(__always)
    private static func isPlain(
        _ base: UnsafeRawPointer, _ nameEnd: Int, _ lineEnd: Int
    ) -> Bool {
        unsafe Scanner.load16(base, nameEnd) == 0x203A
            && Scanner.byte(base, nameEnd &+ 2) > UInt8(ascii: " ")
            && Scanner.byte(base, lineEnd &- 1) > UInt8(ascii: " ")
    }

    @inline(__always)
    private static func slot(_ position: Int, _ nameEnd: Int, _ lineEnd: Int) -> FieldSlot {
        FieldSlot(
            nameStart: UInt32(truncatingIfNeeded: position),
            nameEnd: UInt32(truncatingIfNeeded: nameEnd),
            valueStart: UInt32(truncatingIfNeeded: nameEnd &+ 2),
            valueEnd: UInt32(truncatingIfNeeded: lineEnd))
    }

    @inline(__always)
    private static func withoutLowest(_ bits: UInt64) -> UInt64 {
        bits & (bits &- 1)
    }
}
