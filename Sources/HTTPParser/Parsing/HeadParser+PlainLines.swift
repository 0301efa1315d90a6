internal import CHTTPParserShims

/// The fast path: reads complete plain lines.
extension HeadParser {
    /// Reads complete plain lines, and leaves all other lines unread for the reference path.
    @inline(__always)
    mutating func parseQuickly(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) {
        guard kind == .request || phase == .fields else { return }
        // Whole windows of 64 bytes are loaded, so shorter input is read from a copy. The offsets
        // are the same.
        if count < 64 { unsafe pad.copyMemory(from: base, byteCount: count) }
        try unsafe parseQuickly(
            count < 64 ? UnsafeRawPointer(pad) : base, count, end: max(count, 64))
    }

    /// - Parameter end: the end of readable memory, at least 64 and at least `count`.
    @inline(__always)
    mutating func parseQuickly(
        _ base: UnsafeRawPointer, _ count: Int, end: Int
    ) throws(HTTPParseError) {
        var walk = unsafe FieldLineScanner(base, from: lineStart, memoryEnd: end)
        // No limit can be exceeded before `readable`. A line that reaches it is left to the
        // reference path, and the following lines to the next call.
        var readable = min(count, lineStart &+ quickBytes)
        if phase == .startLine {
            guard
                let lineEnd = unsafe walk.passStartLine(base, readable: readable, memoryEnd: end),
                unsafe takeRequestLine(base, lineEnd, end)
            else { return }
        } else {
            readable = min(readable, fieldsStart &+ sectionLimit)
        }
        let first = fieldCount
        let room = min(limits.fieldCount, slotCapacity) &- first
        unsafe walk.takeFields(
            base, readable: readable, memoryEnd: end, slots: slots + first, room: room)
        fieldCount = first &+ walk.count
        var position = walk.position
        if position &+ 2 <= count, unsafe Scanner.isLineEnd(base, position) {
            position &+= 2
            phase = .complete
        }
        lineStart = position
        scanned = position
        // Fields that decide framing are checked after the walk, in the order of the lines: a
        // branch inside the loop would be mispredicted in each request.
        try unsafe judge(from: first, base, end)
    }

    /// Records the new fields that decide framing, and refuses empty names.
    @inline(__always)
    mutating func judge(
        from first: Int, _ base: UnsafeRawPointer, _ end: Int
    ) throws(HTTPParseError) {
        let isRequest = kind == .request
        let limit = unsafe slots + fieldCount
        var next = unsafe slots + first
        while true {
            unsafe next = Self.candidate(next, limit, base)
            guard unsafe next < limit else { return }
            let slot = unsafe next.pointee
            unsafe next += 1
            if isRequest, unsafe framing.recordUsual(base, slot, end: end) { continue }
            try unsafe record(slot, base)
        }
    }

    /// The first of the slots from `start` on that may decide framing, or `limit`.
    @inline(never)
    private static func candidate(
        _ start: UnsafeMutablePointer<FieldSlot>, _ limit: UnsafeMutablePointer<FieldSlot>,
        _ base: UnsafeRawPointer
    ) -> UnsafeMutablePointer<FieldSlot> {
        var next = unsafe start
        while unsafe next < limit {
            let (start, end) = unsafe (next.pointee.nameStart, next.pointee.nameEnd)
            // At least eight bytes are readable from the start of each scanned line.
            let word = unsafe Scanner.load64(base, Int(start))
            if http_parser_decides_framing(word, end &- start) { break }
            unsafe next += 1
        }
        return unsafe next
    }

    /// Takes a request line with a known method other than CONNECT, an origin-form target and
    /// HTTP/1.0 or HTTP/1.1. Leaves any other unread for the reference path.
    /// - Parameter lineEnd: the end of the line's content; no line stop precedes it.
    @inline(__always)
    mutating func takeRequestLine(
        _ base: UnsafeRawPointer, _ lineEnd: Int, _ memoryEnd: Int
    ) -> Bool {
        let start = lineStart
        guard lineEnd &- start >= 14 else { return false }
        let (known, length) = unsafe quickMethod(base, start, memoryEnd)
        // CONNECT has a special form of target.
        guard known != .other, known != .connect else { return false }
        let target = start &+ length
        let targetEnd = lineEnd &- 9
        let version = unsafe Scanner.load64(base, lineEnd &- 8)
        guard version == Self.http11 || version == Self.http10, target < targetEnd,
            unsafe Scanner.byte(base, targetEnd) == UInt8(ascii: " "),
            unsafe Scanner.byte(base, target) == UInt8(ascii: "/")
        else { return false }
        var position = target
        while position < targetEnd {
            let odd = unsafe Scanner.spaceOrHash32(base, position, end: memoryEnd)
            let left = targetEnd &- position
            guard odd != 0, odd.trailingZeroBitCount < left else {
                position &+= 32
                continue
            }
            return false
        }
        minorVersion = version == Self.http11 ? 1 : 0
        method = known
        methodStart = start
        targetForm = .origin
        targetStart = target
        self.targetEnd = targetEnd
        beginFields(at: lineEnd &+ 2)
        return true
    }

    private static var http11: UInt64 { 0x312E_312F_5054_5448 }
    private static var http10: UInt64 { 0x302E_312F_5054_5448 }

    /// The method at `start`, and its length including the space after it.
    @inline(__always)
    func quickMethod(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) -> (HTTPMethod.Known, Int) {
        let word = unsafe Scanner.load64(base, start)
        if word & 0xFFFF_FFFF == 0x2054_4547 { return (.get, 4) }
        if word & 0xFF_FFFF_FFFF == 0x20_5453_4F50 { return (.post, 5) }
        return unsafe otherMethod(base, start, end, word)
    }

    @inline(never)
    func otherMethod(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int, _ word: UInt64
    ) -> (HTTPMethod.Known, Int) {
        let length = unsafe Scanner.nameStops16(base, start, end: end).trailingZeroBitCount
        guard length > 0, length < 10, start &+ length < end,
            unsafe Scanner.byte(base, start &+ length) == UInt8(ascii: " ")
        else { return (.other, 0) }
        let unused = UInt64(truncatingIfNeeded: 8 &* (8 &- min(length, 8)))
        let known = unsafe HTTPMethod.Known(
            word: (word &<< unused) &>> unused, length: length,
            ninth: Scanner.byte(base, start &+ 8))
        return (known, length &+ 1)
    }
}
