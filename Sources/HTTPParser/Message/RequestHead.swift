internal import CHTTPParserShims

/// The head of a request: a copy of its bytes, and an index into them.
///
/// The head is one block of memory that is read in place; a `String` is made only on request. It is
/// not copyable: pass it on, or copy the values that must outlive it.
@safe
public struct RequestHead: ~Copyable, @unchecked Sendable {
    /// The values that the parser found in the head.
    private struct Summary {
        var contentLength: Int64
        var length: UInt32
        var fieldCount: UInt32
        var methodStart: UInt32
        var targetStart: UInt32
        var targetEnd: UInt32
        var framingFlags: FramingFields.Flags
        var method: HTTPMethod.Known
        var targetForm: RequestTarget.Form
        var version: HTTPVersion
    }

    /// The block: the summary, the field slots, the bytes. Because it is the only stored property,
    /// a head is passed in one register.
    private let summary: UnsafeMutablePointer<Summary>

    /// Copies the head that `parser` has just read from the first `length` bytes at `bytes`.
    @inline(__always)
    package init(_ parser: borrowing HeadParser, bytes: UnsafeRawPointer, length: Int) {
        let count = parser.fieldCount
        let block = unsafe http_parser_allocate(
            UInt64(Self.blockBytes(fieldCount: count, length: length)))
        unsafe summary = block.bindMemory(to: Summary.self, capacity: 1)
        unsafe summary.initialize(
            to: Summary(
                contentLength: parser.framing.contentLength,
                length: UInt32(truncatingIfNeeded: length),
                fieldCount: UInt32(truncatingIfNeeded: count),
                methodStart: UInt32(truncatingIfNeeded: parser.methodStart),
                targetStart: UInt32(truncatingIfNeeded: parser.targetStart),
                targetEnd: UInt32(truncatingIfNeeded: parser.targetEnd),
                framingFlags: parser.framing.flags, method: parser.method,
                targetForm: parser.targetForm, version: parser.version))
        let slotBytes = count &* MemoryLayout<FieldSlot>.stride
        let slots = unsafe block + MemoryLayout<Summary>.stride
        unsafe http_parser_copy16(slots, parser.slots, UInt64(truncatingIfNeeded: count))
        unsafe (slots + slotBytes).copyMemory(from: bytes, byteCount: length)
    }

    /// Copies the head that `parser` has just read from the first `length` of `bytes`.
    /// - Parameters:
    ///   - parser: the parser, of kind `.request`, whose head is complete.
    ///   - bytes: the bytes that were last passed to the parser.
    ///   - length: what `HeadParser.parse(_:)` returned for these bytes.
    public init(_ parser: borrowing HeadParser, copying bytes: Span<UInt8>, length: Int) {
        precondition(parser.kind == .request, "the parser reads requests")
        precondition(
            parser.phase == .complete && length == parser.lineStart && length <= bytes.count,
            "no head of that length")
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        guard let base = region.baseAddress else { preconditionFailure("no bytes") }
        unsafe self.init(parser, bytes: base, length: length)
    }

    deinit {
        let bytes = unsafe Self.blockBytes(
            fieldCount: fieldCount, length: Int(summary.pointee.length))
        unsafe http_parser_release(summary, UInt64(bytes))
    }

    private static func blockBytes(fieldCount: Int, length: Int) -> Int {
        MemoryLayout<Summary>.stride &+ fieldCount &* MemoryLayout<FieldSlot>.stride &+ length
    }

    private var fieldCount: Int { unsafe Int(summary.pointee.fieldCount) }

    private var slots: UnsafeRawPointer {
        unsafe UnsafeRawPointer(summary) + MemoryLayout<Summary>.stride
    }

    private var bytes: UnsafeRawPointer {
        unsafe slots + fieldCount &* MemoryLayout<FieldSlot>.stride
    }

    package var table: FieldTable {
        unsafe FieldTable(
            bytes: bytes, slots: slots.assumingMemoryBound(to: FieldSlot.self), count: fieldCount)
    }

    package var framingFields: FramingFields {
        unsafe FramingFields(
            flags: summary.pointee.framingFlags, contentLength: summary.pointee.contentLength)
    }

    package var knownMethod: HTTPMethod.Known { unsafe summary.pointee.method }

    /// The version of the request.
    public var version: HTTPVersion { unsafe summary.pointee.version }

    package var targetBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: bytes + Int(summary.pointee.targetStart),
            count: Int(summary.pointee.targetEnd &- summary.pointee.targetStart))
    }

    /// The method.
    public var method: HTTPMethod {
        guard knownMethod == .other else { return HTTPMethod(knownMethod) }
        let name = unsafe UnsafeRawBufferPointer(
            start: bytes + Int(summary.pointee.methodStart),
            count: Int(summary.pointee.targetStart &- summary.pointee.methodStart) - 1)
        return unsafe HTTPMethod(.other, custom: String(decoding: name, as: UTF8.self))
    }

    /// The request target of the request line.
    public var target: RequestTarget {
        unsafe RequestTarget(
            text: String(decoding: targetBytes, as: UTF8.self), form: summary.pointee.targetForm)
    }

    /// The fields, read in place.
    public var fields: FieldSection {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(FieldSection(table), borrowing: self) }
    }

    /// How the end of the content is known (RFC 9112 section 6.3).
    public var framing: BodyFraming {
        .ofRequest(method: knownMethod, fields: framingFields)
    }

    /// The announced length, `nil` without Content-Length.
    public var contentLength: Int64? {
        unsafe summary.pointee.contentLength < 0 ? nil : summary.pointee.contentLength
    }

    /// Whether the connection may carry another request (RFC 9112 section 9.3).
    public var isPersistent: Bool {
        Persistence.isPersistent(version: version, fields: framingFields, framing: framing)
    }

    /// Whether the client waits for `100 Continue` (RFC 9110 section 10.1.1).
    public var expectsContinue: Bool {
        version >= .http11 && framingFields.flags.contains(.expectContinue)
    }

    /// Whether the client offers another protocol (RFC 9110 section 7.8). Always `false` for
    /// HTTP/1.0.
    public var offersUpgrade: Bool {
        version >= .http11 && framingFields.flags.contains(.upgradeField)
            && framingFields.flags.contains(.upgradeOption)
    }
}
