/// Reads the head of one message, or a trailer section, in place: bytes in, offsets out.
///
/// Pass all bytes from the start of the head on. `parse(_:)` returns the length of the head, or
/// `nil` if the head is incomplete; then call it again with the same bytes followed by more. It
/// resumes at the byte where it stopped, so the time is linear in the head even if bytes arrive one
/// by one.
///
/// ```swift
/// var parser = HeadParser(.request)
/// let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
/// if let length = try parser.parse(bytes.span) {
///     print(length, parser.fieldCount, parser.slot(0).valueStart)
/// }
/// ```
///
/// The parser reuses one block of field slots, which grows with the number of fields. After
/// `reset()` it reads the next head. An error is final until `reset()`.
@safe
public struct HeadParser: ~Copyable, @unchecked Sendable {
    /// The kind of the line before the fields.
    public enum Kind: Sendable {
        /// A request line (RFC 9112 section 3).
        case request
        /// A status line (RFC 9112 section 4).
        case response
        /// No start line: the trailer section after the last chunk (RFC 9112 section 7.1.2).
        case trailers
    }

    enum Phase { case startLine, fields, complete, failed }

    /// The kind of message that is parsed.
    public let kind: Kind
    package let limits: ParserLimits
    package let leniency: ParserLeniency

    var phase: Phase
    /// The offset of the first line that is not parsed yet.
    var lineStart = 0
    /// The offset up to which that line was searched for its end.
    var scanned = 0
    var fieldsStart = 0
    var emptyLines = 0

    package internal(set) var slots: UnsafeMutablePointer<FieldSlot>
    var slotCapacity: Int
    /// A copy of input shorter than 64 bytes, so that whole windows can be loaded.
    let pad: UnsafeMutableRawPointer
    /// Lines that end within this many bytes exceed no limit.
    let quickBytes: Int
    /// The number of complete field lines.
    public internal(set) var fieldCount = 0
    package internal(set) var framing = FramingFields()
    package internal(set) var method = HTTPMethod.Known.other
    package internal(set) var methodStart = 0
    package internal(set) var targetForm = RequestTarget.Form.origin
    package internal(set) var targetStart = 0
    package internal(set) var targetEnd = 0
    /// Whether the head is that of a response to CONNECT.
    var answersConnect = false
    var minorVersion: UInt8 = 1
    var statusCode: UInt16 = 0
    var reasonStart = 0
    var reasonEnd = 0
    /// The error that ended parsing; valid only in the phase `failed`.
    private var failure = HTTPParseError(.truncated, at: 0)

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

    /// Discards the head, so that the next one can be parsed.
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
    /// The range of the request target, once the head is complete.
    public var targetRange: Range<Int> { targetStart..<targetEnd }

    /// The range of the reason phrase of a response, once its head is complete.
    public var reasonRange: Range<Int> { reasonStart..<reasonEnd }

    /// The offsets of a field line.
    /// - Parameter position: 0..<`fieldCount`.
    public func slot(_ position: Int) -> FieldSlot {
        precondition(position >= 0 && position < fieldCount, "field position out of range")
        return unsafe slots[position]
    }

    /// The fields of the head just read, in place. Neither the bytes nor the parser can change
    /// while the section is in use.
    /// - Parameter bytes: the bytes last passed to `parse(_:)`.
    @_lifetime(borrow self, borrow bytes)
    public func fields(in bytes: borrowing Span<UInt8>) -> FieldSection {
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        precondition(lineStart <= region.count, "not the bytes of this head")
        guard let base = region.baseAddress else { preconditionFailure("no bytes") }
        return unsafe _overrideLifetime(FieldSection(table(base)), borrowing: self)
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

    /// Reads the head, from the byte where the last call stopped.
    /// - Parameter bytes: all bytes from the start of the head on, including those of earlier
    ///   calls.
    /// - Returns: the length of the head with its empty line, or `nil` if more bytes are needed.
    /// - Throws: the violation, with an offset into `bytes`. Later calls throw it again until
    ///   `reset()`.
    public mutating func parse(_ bytes: Span<UInt8>) throws(HTTPParseError) -> Int? {
        // The pointer leaves the closure, but is only used while `bytes` is borrowed.
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        return try unsafe parse(region)
    }

    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPParseError) -> Int? {
        guard phase != .failed else { throw failure }
        do throws(HTTPParseError) {
            return try unsafe readOn(bytes)
        } catch {
            // After an error the input stays invalid, however often the caller asks again.
            phase = .failed
            failure = error
            throw error
        }
    }

    @inline(__always)
    private mutating func readOn(
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

    /// Checks that need all fields. It is `mutating` although it changes nothing, because otherwise
    /// the compiler would copy the parser.
    @inline(__always)
    private mutating func checkRequest() throws(HTTPParseError) {
        // RFC 9112 section 3.2: HTTP/1.1 requires Host, HTTP/1.0 does not.
        guard framing.flags.contains(.host) || minorVersion == 0 || leniency.contains(.missingHost)
        else { throw HTTPParseError(.missingHost, at: lineStart) }
        guard method == .connect else { return }
        guard !framing.flags.contains(.chunked), framing.contentLength <= 0 else {
            throw HTTPParseError(.contentInConnect, at: lineStart)
        }
    }

    // MARK: Shared by both ways of reading lines

    @inline(never)
    mutating func record(
        _ slot: FieldSlot, _ base: UnsafeRawPointer
    ) throws(HTTPParseError) {
        let (name, value) = (Int(slot.nameStart), Int(slot.valueStart))
        guard slot.nameEnd > slot.nameStart else {
            throw HTTPParseError(.invalidFieldName, at: name)
        }
        guard kind != .trailers else { return }
        let bytes = unsafe UnsafeRawBufferPointer(
            start: base + name, count: Int(slot.nameEnd) - name)
        // A 2xx to CONNECT has no content, and its framing is ignored (RFC 9110 section 9.3.6).
        if answersConnect, status.isSuccess {
            switch unsafe FramingFields.name(of: bytes) {
            case .contentLength, .transferEncoding: return
            default: break
            }
        }
        try unsafe framing.record(
            name: bytes,
            value: UnsafeRawBufferPointer(start: base + value, count: Int(slot.valueEnd) - value),
            at: value, isRequest: kind == .request, leniency: leniency)
    }

    @inline(never)
    mutating func growSlots() {
        let grown = UnsafeMutablePointer<FieldSlot>.allocate(capacity: slotCapacity * 2)
        unsafe grown.update(from: slots, count: slotCapacity)
        unsafe slots.deallocate()
        unsafe slots = grown
        slotCapacity *= 2
    }

    var sectionLimit: Int {
        kind == .trailers ? limits.trailerBytes : limits.fieldSectionBytes
    }

    mutating func beginFields(at position: Int) {
        lineStart = position
        scanned = position
        fieldsStart = position
        phase = .fields
    }
}
