/// A run over the plain lines of a head: the inner loop of `HeadParser`, and the hottest of the
/// module.
///
/// A line that is in any way unusual ends the run before it, and is left to the reference.
///
/// Nothing in it waits for what a line says: the next line is known as soon as the stops of a
/// window are, on a grid of windows that begins with the first line. That is why a start line is
/// looked at afterwards.
@safe
struct FieldLineScanner {
    /// Where the first line begins that was not taken.
    private(set) var position: Int
    /// How many field lines were taken.
    private(set) var count = 0
    /// The window whose line stops are known.
    private var windowStart: Int
    /// The stop bytes that end a walk.
    private var stops: UInt64

    /// - Parameters:
    ///   - position: where the first line begins.
    ///   - memoryEnd: where readable memory ends, at least 64.
    @inline(__always)
    init(_ base: UnsafeRawPointer, from position: Int, memoryEnd: Int) {
        self.position = position
        windowStart = position
        stops = unsafe Scanner.lineStops64(base, position, end: memoryEnd)
    }

    /// Passes over the first line, which is not a field.
    /// - Parameter readable: where the bytes end that may be looked at for lines.
    /// - Returns: where its content ends, or `nil` when a plain line is not found.
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
    ///   - readable: where the bytes end that may be looked at for lines.
    ///   - memoryEnd: where readable memory ends.
    ///   - slots: where the slots of the lines go.
    ///   - room: how many of them there may be.
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
            // From one line stop to the next: HTAB and obs-text may stand inside a value.
            var lineEnd: Int
            while true {
                if stops == 0 {
                    windowStart &+= 64
                    guard windowStart < lastEnd else { break walk }
                    stops = unsafe Scanner.lineStops64(base, windowStart, end: memoryEnd)
                    // The LF that ended the line before may be the first byte of the window.
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
            // Only the last line of a head may be too near to the end of memory. With a name it has
            // eight bytes, including the empty line after it, as many as the check reads; an empty
            // name is left to the reference path.
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
                // Longer names are for the reference.
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

    /// Whether a name is followed by colon, one blank, and a value without blanks around it.
    ///
    /// CR is no part of a name: where this colon stands, it stands before the line's end. No
    /// other byte of a value is as low as SP.
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
