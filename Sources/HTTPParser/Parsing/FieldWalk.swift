internal import CHTTPParserShims

/// A run over plain field lines: the inner loop of `HeadParser`, and the hottest of the module.
///
/// A line that is in any way unusual ends the run before it, and is left to the reference.
@safe
struct FieldWalk {
    /// Where the next line begins.
    var position: Int
    /// Where its slot goes.
    var slot: UnsafeMutablePointer<FieldSlot>
    let slotLimit: UnsafeMutablePointer<FieldSlot>
    /// Where the bytes that may be looked at for lines end: the input, or the section's limit.
    let readable: Int
    let lineLimit: Int
    /// Which of the lines may decide framing, the first one in the lowest bit.
    var decisive: UInt64 = 0
    private var bit: UInt64 = 1
    /// The window whose line stops are known.
    private var windowStart: Int
    private var stops: UInt64

    /// - Parameter memoryEnd: where readable memory ends, at least 64.
    @inline(__always)
    init(
        _ base: UnsafeRawPointer, memoryEnd: Int, position: Int,
        slot: UnsafeMutablePointer<FieldSlot>,
        slotLimit: UnsafeMutablePointer<FieldSlot>, readable: Int, lineLimit: Int
    ) {
        self.position = position
        unsafe self.slot = slot
        unsafe self.slotLimit = slotLimit
        self.readable = readable
        self.lineLimit = lineLimit
        windowStart = position
        stops = unsafe Scanner.lineStops64(base, position, end: memoryEnd)
    }

    /// Takes lines that begin at `end` at the latest.
    /// - Parameter isTail: whether vectors may reach beyond `memoryEnd` and have to be placed. It
    ///   is a constant of each call, so that there are two loops.
    @inline(__always)
    mutating func takeLines(
        _ base: UnsafeRawPointer, end: Int, memoryEnd: Int, _ isTail: Bool
    ) {
        var position = self.position
        var slot = unsafe self.slot
        var decisive = self.decisive
        var bit = self.bit
        var windowStart = self.windowStart
        var stops = self.stops
        walk: while position <= end, unsafe slot < slotLimit {
            // From one line stop to the next: HTAB and obs-text may stand inside a value. The
            // search begins at the line, over windows that lie on a grid, so that neither waits
            // for the name to be looked at.
            var lineEnd = position
            while true {
                let distance = lineEnd &- windowStart
                if distance >= 64 {
                    windowStart &+= 64
                    stops = unsafe Scanner.lineStops64(base, windowStart, end: memoryEnd)
                    continue
                }
                let ahead = stops &>> UInt64(truncatingIfNeeded: distance)
                if ahead == 0 {
                    lineEnd = windowStart &+ 64
                    if lineEnd >= readable { break walk }
                    continue
                }
                lineEnd &+= ahead.trailingZeroBitCount
                guard lineEnd &+ 1 < readable else { break walk }
                if unsafe Scanner.isLineEnd(base, lineEnd) { break }
                guard unsafe ByteClass.isFieldContent(Scanner.byte(base, lineEnd)) else {
                    break walk
                }
                lineEnd &+= 1
            }
            var nameStops = unsafe Scanner.nameStops16(base, position, end: memoryEnd, isTail)
            var nameEnd = position
            if nameStops == 0 {
                nameEnd &+= 16
                nameStops = unsafe Scanner.nameStops16(base, nameEnd, end: memoryEnd, isTail)
                // Longer names, and names that the input cuts off, are for the reference.
                if nameStops == 0 { break }
            }
            nameEnd &+= nameStops.trailingZeroBitCount
            // CR is no part of a name: where this colon stands, it stands before the line's end.
            guard unsafe Scanner.byte(base, nameEnd) == UInt8(ascii: ":"), nameEnd != position
            else { break }
            var valueStart = nameEnd &+ 1
            if unsafe Scanner.byte(base, valueStart) == UInt8(ascii: " ") { valueStart &+= 1 }
            // Empty values, blanks around a value beyond the usual one, and long lines are for
            // the reference. No other byte of a value is as low as SP.
            guard unsafe Scanner.byte(base, valueStart) > UInt8(ascii: " "),
                unsafe Scanner.byte(base, lineEnd &- 1) > UInt8(ascii: " "),
                lineEnd &- position <= lineLimit
            else { break }
            let decides = unsafe http_parser_decides_framing(
                Scanner.load64(base, position), UInt64(truncatingIfNeeded: nameEnd &- position))
            decisive |= decides ? bit : 0
            bit &<<= 1
            unsafe slot.pointee = FieldSlot(
                nameStart: UInt32(truncatingIfNeeded: position),
                nameEnd: UInt32(truncatingIfNeeded: nameEnd),
                valueStart: UInt32(truncatingIfNeeded: valueStart),
                valueEnd: UInt32(truncatingIfNeeded: lineEnd))
            unsafe slot += 1
            position = lineEnd &+ 2
        }
        self.position = position
        unsafe self.slot = slot
        self.decisive = decisive
        self.bit = bit
        // The window may be beyond the line at which the run has ended.
        guard windowStart <= position else { return }
        self.windowStart = windowStart
        self.stops = stops
    }
}
