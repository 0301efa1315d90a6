internal import CHTTPParserShims

/// Reads the head of one message, or a trailer section, in place: bytes in, offsets out.
///
/// Hand it the bytes from the first of the head on. It answers with the length of the head, or
/// `nil` when the head is not complete; then call it again with the same bytes and more behind
/// them. It resumes at the line, and inside the line at the byte, where it stopped, so that
/// feeding single bytes costs time linear in the head.
///
/// ```swift
/// var parser = HeadParser(.request)
/// let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
/// if let length = try parser.parse(bytes.span) {
///     print(length, parser.fieldCount, parser.slot(0).valueStart)
/// }
/// ```
///
/// It holds one reusable block of field slots and allocates nothing else. After `reset()` it
/// reads the next head. An error is final until then.
@safe
public struct HeadParser: ~Copyable, @unchecked Sendable {
    /// What stands before the fields.
    public enum Kind: Sendable {
        /// A request line (RFC 9112 section 3).
        case request
        /// A status line (RFC 9112 section 4).
        case response
        /// Nothing: the section after the last chunk (RFC 9112 section 7.1.2).
        case trailers
    }

    private enum Phase { case startLine, fields, complete }

    /// What is parsed.
    public let kind: Kind
    package let limits: ParserLimits
    package let leniency: ParserLeniency

    private var phase: Phase
    /// The first byte of the line that is not parsed yet.
    private var lineStart = 0
    /// How far that line was searched for its end.
    private var scanned = 0
    private var fieldsStart = 0
    private var emptyLines = 0

    package private(set) var slots: UnsafeMutablePointer<FieldSlot>
    private var slotCapacity: Int
    /// 64 bytes to look at shorter heads in.
    private let pad: UnsafeMutableRawPointer
    /// Lines that end within so many bytes keep within each limit.
    private let quickBytes: Int
    /// The number of complete field lines.
    public private(set) var fieldCount = 0
    package private(set) var framing = FramingFields()
    package private(set) var method = HTTPMethod.Known.other
    package private(set) var methodStart = 0
    package private(set) var targetForm = RequestTarget.Form.origin
    package private(set) var targetStart = 0
    package private(set) var targetEnd = 0
    private var minorVersion: UInt8 = 1
    private var statusCode: UInt16 = 0
    private var reasonStart = 0
    private var reasonEnd = 0

    /// Creates a parser for heads of one kind.
    public init(
        _ kind: Kind, limits: ParserLimits = .standard, leniency: ParserLeniency = []
    ) {
        self.kind = kind
        self.limits = limits.clamped
        self.leniency = leniency
        phase = kind == .trailers ? .fields : .startLine
        quickBytes = min(
            self.limits.startLineBytes, self.limits.fieldLineBytes, self.limits.fieldSectionBytes)
        slotCapacity = 32
        unsafe slots = .allocate(capacity: 32)
        unsafe pad = .allocate(byteCount: 64, alignment: 8)
        unsafe pad.initializeMemory(as: UInt8.self, repeating: 0, count: 64)
    }

    deinit {
        unsafe pad.deallocate()
        unsafe slots.deallocate()
    }

    /// Forgets the head and begins with the next.
    public mutating func reset() {
        phase = kind == .trailers ? .fields : .startLine
        lineStart = 0
        scanned = 0
        fieldsStart = 0
        emptyLines = 0
        fieldCount = 0
        framing = FramingFields()
    }

    /// The version of the head, once it is complete.
    public var version: HTTPVersion { HTTPVersion(minor: minorVersion) }
    /// The status of a response, once its head is complete.
    public var status: HTTPStatus { HTTPStatus(unchecked: statusCode) }
    /// Where the request target stands, once the head is complete.
    public var targetRange: Range<Int> { targetStart..<targetEnd }

    /// Where the reason phrase of a response stands, once its head is complete.
    public var reasonRange: Range<Int> { reasonStart..<reasonEnd }

    /// Where a field line stands.
    /// - Parameter position: 0..<`fieldCount`.
    public func slot(_ position: Int) -> FieldSlot {
        precondition(position >= 0 && position < fieldCount, "field position out of range")
        return unsafe slots[position]
    }

    /// The fields of the head just read, looked at in place.
    /// - Parameter bytes: the bytes last given to `parse(_:)`.
    @_lifetime(borrow bytes)
    public func fields(in bytes: borrowing Span<UInt8>) -> FieldSection {
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        precondition(lineStart <= region.count, "not the bytes of this head")
        guard let base = region.baseAddress else { preconditionFailure("no bytes") }
        return unsafe _overrideLifetime(FieldSection(table(base)), borrowing: bytes)
    }

    package func table(_ base: UnsafeRawPointer) -> FieldTable {
        unsafe FieldTable(bytes: base, slots: UnsafePointer(slots), count: fieldCount)
    }

    package func copyFields(from bytes: UnsafeRawBufferPointer) -> HTTPFields {
        guard let base = bytes.baseAddress, fieldCount > 0 else { return HTTPFields() }
        return unsafe HTTPFields(FieldSection(table(base)))
    }

    /// The framing that the request announces, once its head is complete (RFC 9112 section 6.3).
    public var requestFraming: BodyFraming { .ofRequest(method: method, fields: framing) }

    /// Reads on.
    /// - Parameter bytes: all bytes from the first of the head on.
    /// - Returns: the length of the head with its empty line, or `nil` for "more bytes, please".
    /// - Throws: what makes the head unacceptable; offsets count from the first of `bytes`.
    public mutating func parse(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Int? {
        // A closure that throws a type and mutates the parser costs nothing once inlined.
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        return try unsafe parse(region)
    }

    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        let count = bytes.count
        if scanned > lineStart, try unsafe !finishesLine(base, count) { return nil }
        while phase != .complete {
            try unsafe parseQuickly(base, count)
            if phase == .startLine {
                guard try unsafe parseStartLine(base, count) else { return nil }
            } else if phase == .fields {
                guard try unsafe parseFieldLine(base, count) else { return nil }
            }
        }
        if kind == .request { try checkRequest() }
        return lineStart
    }

    /// What can only be judged when all fields are known. It changes nothing; were it not
    /// `mutating`, the compiler would copy the parser for it.
    private mutating func checkRequest() throws(HTTPParseError) {
        // RFC 9112 section 3.2: HTTP/1.1 needs Host; an older client need not know it.
        guard framing.flags.contains(.host) || minorVersion == 0 || leniency.contains(.missingHost)
        else { throw HTTPParseError(.missingHost, at: lineStart) }
        guard method == .connect else { return }
        guard !framing.flags.contains(.chunked), framing.contentLength <= 0 else {
            throw HTTPParseError(.contentInConnect, at: lineStart)
        }
    }

    // MARK: The quick way: whole, plain lines

    /// Reads whole, plain lines, and leaves all others to the reference below, which finds them
    /// still unread.
    private mutating func parseQuickly(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) {
        guard kind == .request || phase == .fields else { return }
        guard count < 64 else {
            return try unsafe parseQuickly(base, count, end: count)
        }
        // Vectors are loaded 64 bytes at a time: a shorter head is looked at in a copy. The
        // offsets are the same.
        unsafe pad.copyMemory(from: base, byteCount: count)
        try unsafe parseQuickly(UnsafeRawPointer(pad), count, end: 64)
    }

    /// - Parameter end: where readable memory ends, at least 64 and not below `count`.
    @inline(__always)
    private mutating func parseQuickly(
        _ base: UnsafeRawPointer, _ count: Int, end: Int
    ) throws(HTTPParseError) {
        var walk = unsafe LineWalk(base, from: lineStart, memoryEnd: end)
        // No limit can be passed in there: a line as long as the strictest of them is for the
        // reference, and what comes behind it for the next walk.
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
        // What decides framing is judged after the walk, in the order of the lines, because a
        // branch for it inside the loop would be mispredicted in each request.
        try unsafe judge(from: first, base, end)
    }

    /// Takes in those of the fields just walked that decide framing, and refuses names of nothing.
    @inline(__always)
    private mutating func judge(
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
            // Such a line has eight bytes, with its end and what is known to stand behind it.
            let word = unsafe Scanner.load64(base, Int(start))
            if http_parser_decides_framing(word, end &- start) { break }
            unsafe next += 1
        }
        return unsafe next
    }

    @inline(never)
    private mutating func record(
        _ slot: FieldSlot, _ base: UnsafeRawPointer
    ) throws(HTTPParseError) {
        let (name, value) = (Int(slot.nameStart), Int(slot.valueStart))
        guard slot.nameEnd > slot.nameStart else {
            throw HTTPParseError(.invalidFieldName, at: name)
        }
        guard kind != .trailers else { return }
        try unsafe framing.record(
            name: UnsafeRawBufferPointer(start: base + name, count: Int(slot.nameEnd) - name),
            value: UnsafeRawBufferPointer(start: base + value, count: Int(slot.valueEnd) - value),
            at: value, isRequest: kind == .request, leniency: leniency)
    }

    @inline(never)
    private mutating func growSlots() {
        let grown = UnsafeMutablePointer<FieldSlot>.allocate(capacity: slotCapacity * 2)
        unsafe grown.update(from: slots, count: slotCapacity)
        unsafe slots.deallocate()
        unsafe slots = grown
        slotCapacity *= 2
    }

    private var sectionLimit: Int {
        kind == .trailers ? limits.trailerBytes : limits.fieldSectionBytes
    }

    /// Takes a request line of a common method, an origin-form target and a known version, or
    /// leaves it unread for the reference.
    /// - Parameter lineEnd: where its content ends; no line stop stands before it.
    @inline(__always)
    private mutating func takeRequestLine(
        _ base: UnsafeRawPointer, _ lineEnd: Int, _ memoryEnd: Int
    ) -> Bool {
        let start = lineStart
        guard lineEnd &- start >= 14 else { return false }
        let (known, length) = unsafe quickMethod(base, start, memoryEnd)
        // CONNECT has a target of its own form.
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

    private mutating func beginFields(at position: Int) {
        lineStart = position
        scanned = position
        fieldsStart = position
        phase = .fields
    }

    private static var http11: UInt64 { 0x312E_312F_5054_5448 }
    private static var http10: UInt64 { 0x302E_312F_5054_5448 }

    /// The method that stands at `start`, and its length with the space behind it.
    @inline(__always)
    private func quickMethod(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) -> (HTTPMethod.Known, Int) {
        let word = unsafe Scanner.load64(base, start)
        if word & 0xFFFF_FFFF == 0x2054_4547 { return (.get, 4) }
        if word & 0xFF_FFFF_FFFF == 0x20_5453_4F50 { return (.post, 5) }
        return unsafe otherMethod(base, start, end, word)
    }

    @inline(never)
    private func otherMethod(
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

    // MARK: The reference: any line, byte by byte

    /// Where the content of the line begun at `lineStart` has to end, and what it is if it does
    /// not. The section's limit is part of it, so that which error is found first does not depend
    /// on how the input was split. The empty line at the end of a section counts for nothing.
    private var bound: (end: Int, kind: HTTPParseError.Kind) {
        if phase == .startLine { return (lineStart + limits.startLineBytes, .requestLineTooLong) }
        let line = lineStart + limits.fieldLineBytes
        let section = max(fieldsStart + sectionLimit - 2, lineStart)
        if line <= section { return (line, .fieldTooLong) }
        return (section, kind == .trailers ? .trailersTooLong : .fieldsTooLong)
    }

    /// Finds the end of the line begun at `lineStart`, looking only at bytes not seen before.
    /// - Returns: the end of the line's content and the start of the next line, or `nil` for more.
    private mutating func lineEnd(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> (end: Int, next: Int)? {
        let bound = self.bound
        var position = max(scanned, lineStart)
        while position < count {
            let byte = unsafe Scanner.byte(base, position)
            if position > bound.end { break }
            if ByteClass.isFieldContent(byte) {
                position += 1
                continue
            }
            if byte == UInt8(ascii: "\n"), leniency.contains(.bareLineFeed) {
                return (position, position + 1)
            }
            guard byte == UInt8(ascii: "\r") else {
                throw unsafe HTTPParseError(fault(byte, at: position, base), at: position)
            }
            guard position + 1 < count else {
                scanned = position
                return nil
            }
            guard unsafe Scanner.byte(base, position + 1) == UInt8(ascii: "\n") else {
                throw HTTPParseError(.bareCarriageReturn, at: position)
            }
            return (position, position + 2)
        }
        if position > bound.end { throw HTTPParseError(bound.kind, at: bound.end) }
        scanned = position
        return nil
    }

    /// Whether a line that was left open is now complete; it stays unread either way.
    private mutating func finishesLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        try unsafe lineEnd(base, count) != nil
    }

    /// What a control byte spoils: it depends on which part of the line it stands in.
    private func fault(
        _ byte: UInt8, at position: Int, _ base: UnsafeRawPointer
    ) -> HTTPParseError.Kind {
        if byte == UInt8(ascii: "\n") { return .bareLineFeed }
        let separator = phase == .fields ? UInt8(ascii: ":") : UInt8(ascii: " ")
        var index = lineStart
        while index < position, unsafe Scanner.byte(base, index) != separator { index += 1 }
        let isFirstPart = index == position
        if phase == .fields { return isFirstPart ? .invalidFieldName : .invalidFieldValue }
        if kind == .response { return .invalidStatusLine }
        return isFirstPart ? .invalidMethod : .invalidTarget
    }

    private mutating func parseStartLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        while let line = try unsafe lineEnd(base, count) {
            if line.end > lineStart {
                if kind == .request {
                    try unsafe parseRequestLine(base, lineStart, line.end)
                } else {
                    try unsafe parseStatusLine(base, lineStart, line.end)
                }
                beginFields(at: line.next)
                return true
            }
            // RFC 9112 section 2.2: a server skips empty lines that clients send after a message.
            emptyLines += 1
            guard emptyLines <= limits.leadingEmptyLines, kind == .request else {
                throw HTTPParseError(
                    kind == .request ? .tooManyEmptyLines : .invalidStatusLine, at: lineStart)
            }
            lineStart = line.next
            scanned = line.next
        }
        return false
    }

    /// method SP request-target SP HTTP-version (RFC 9112 section 3), single spaces only.
    private mutating func parseRequestLine(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        var position = start
        while position < end, unsafe ByteClass.isToken(Scanner.byte(base, position)) {
            position += 1
        }
        guard position > start, position < end,
            unsafe Scanner.byte(base, position) == UInt8(ascii: " ")
        else { throw HTTPParseError(.invalidMethod, at: position) }
        method = unsafe HTTPMethod.Known(
            UnsafeRawBufferPointer(start: base + start, count: position - start))
        methodStart = start
        position += 1
        targetStart = position
        while position < end, unsafe ByteClass.isTarget(Scanner.byte(base, position)) {
            position += 1
        }
        targetEnd = position
        guard position > targetStart, position < end,
            unsafe Scanner.byte(base, position) == UInt8(ascii: " ")
        else {
            throw HTTPParseError(
                position == end && position > targetStart ? .invalidVersion : .invalidTarget,
                at: position)
        }
        try unsafe parseVersion(base, position + 1, end, closed: true)
        try unsafe parseTargetForm(base)
    }

    private mutating func parseTargetForm(
        _ base: UnsafeRawPointer
    ) throws(HTTPParseError) {
        let target = unsafe UnsafeRawBufferPointer(
            start: base + targetStart, count: targetEnd - targetStart)
        let form = unsafe TargetGrammar.form(of: target, isConnect: method == .connect)
        guard let form, form != .asterisk || method == .options else {
            throw HTTPParseError(.invalidTarget, at: targetStart)
        }
        targetForm = form
    }

    /// "HTTP/" DIGIT "." DIGIT, of major version 1. `closed` asks that the line ends there.
    private mutating func parseVersion(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int, closed: Bool
    ) throws(HTTPParseError) {
        guard end - start >= 8, !closed || end - start == 8,
            unsafe matchesExactly(base + start, "HTTP/"),
            unsafe ByteClass.isDigit(Scanner.byte(base, start + 5)),
            unsafe Scanner.byte(base, start + 6) == UInt8(ascii: "."),
            unsafe ByteClass.isDigit(Scanner.byte(base, start + 7))
        else { throw HTTPParseError(.invalidVersion, at: start) }
        guard unsafe Scanner.byte(base, start + 5) == UInt8(ascii: "1") else {
            throw HTTPParseError(.unsupportedVersion, at: start + 5)
        }
        minorVersion = unsafe Scanner.byte(base, start + 7) - 0x30
    }

    private func matchesExactly(_ bytes: UnsafeRawPointer, _ text: StaticString) -> Bool {
        for index in 0..<text.utf8CodeUnitCount {
            guard unsafe Scanner.byte(bytes, index) == text.utf8Start[index] else { return false }
        }
        return true
    }

    /// HTTP-version SP 3DIGIT SP [ reason-phrase ] (RFC 9112 section 4).
    private mutating func parseStatusLine(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        try unsafe parseVersion(base, start, end, closed: false)
        let digits = start + 9
        guard digits + 3 <= end, unsafe Scanner.byte(base, start + 8) == UInt8(ascii: " ") else {
            throw HTTPParseError(.invalidStatusLine, at: start + 8)
        }
        var code: UInt16 = 0
        for index in digits..<(digits + 3) {
            let byte = unsafe Scanner.byte(base, index)
            guard ByteClass.isDigit(byte) else {
                throw HTTPParseError(.invalidStatusLine, at: index)
            }
            code = code * 10 + UInt16(byte - 0x30)
        }
        guard code >= 100 else { throw HTTPParseError(.invalidStatusLine, at: digits) }
        statusCode = code
        reasonStart = min(digits + 4, end)
        reasonEnd = end
        if digits + 3 == end, leniency.contains(.missingReasonSpace) { return }
        guard digits + 3 < end, unsafe Scanner.byte(base, digits + 3) == UInt8(ascii: " ") else {
            throw HTTPParseError(.invalidStatusLine, at: digits + 3)
        }
    }

    /// Reads one field line, or the empty line that ends the section.
    /// - Returns: `false` when the line is not complete.
    private mutating func parseFieldLine(
        _ base: UnsafeRawPointer, _ count: Int
    ) throws(HTTPParseError) -> Bool {
        guard let line = try unsafe lineEnd(base, count) else { return false }
        if line.end == lineStart {
            phase = .complete
        } else {
            try unsafe parseField(base, lineStart, line.end)
        }
        lineStart = line.next
        scanned = line.next
        return true
    }

    private mutating func parseField(
        _ base: UnsafeRawPointer, _ start: Int, _ end: Int
    ) throws(HTTPParseError) {
        guard fieldCount < limits.fieldCount else {
            throw HTTPParseError(.tooManyFields, at: start)
        }
        guard unsafe !ByteClass.isBlank(Scanner.byte(base, start)) else {
            throw HTTPParseError(.obsoleteFolding, at: start)
        }
        var nameEnd = start
        while nameEnd < end, unsafe ByteClass.isToken(Scanner.byte(base, nameEnd)) { nameEnd += 1 }
        guard nameEnd < end else { throw HTTPParseError(.missingColon, at: end) }
        let byte = unsafe Scanner.byte(base, nameEnd)
        guard byte == UInt8(ascii: ":"), nameEnd > start else {
            let isBlank = ByteClass.isBlank(byte)
            throw HTTPParseError(isBlank ? .whitespaceBeforeColon : .invalidFieldName, at: nameEnd)
        }
        var (valueStart, valueEnd) = (nameEnd + 1, end)
        while valueStart < valueEnd, unsafe ByteClass.isBlank(Scanner.byte(base, valueStart)) {
            valueStart += 1
        }
        while valueEnd > valueStart, unsafe ByteClass.isBlank(Scanner.byte(base, valueEnd - 1)) {
            valueEnd -= 1
        }
        let slot = FieldSlot(
            nameStart: UInt32(truncatingIfNeeded: start),
            nameEnd: UInt32(truncatingIfNeeded: nameEnd),
            valueStart: UInt32(truncatingIfNeeded: valueStart),
            valueEnd: UInt32(truncatingIfNeeded: valueEnd))
        try unsafe record(slot, base)
        if fieldCount == slotCapacity { growSlots() }
        unsafe slots[fieldCount] = slot
        fieldCount += 1
    }
}
