internal import CHTTPParserShims

/// The head of a request, owned: the bytes as they came and an index into them.
///
/// It is one block of memory, read in place; a `String` is made only when one is asked for. It is
/// not copyable: hand it on, or take out what should live longer.
@safe
public struct RequestHead: ~Copyable, @unchecked Sendable {
    /// Slots first, then the bytes of the head.
    private let block: UnsafeMutableRawPointer
    private let length: UInt32
    private let fieldCount: UInt32
    private let methodStart: UInt32
    private let targetStart: UInt32
    private let targetEnd: UInt32
    package let knownMethod: HTTPMethod.Known
    private let targetForm: RequestTarget.Form
    /// The version of the request.
    public let version: HTTPVersion
    package let framingFields: FramingFields

    /// Copies the head that `parser` has just read from the first `length` bytes at `bytes`.
    package init(_ parser: borrowing HeadParser, bytes: UnsafeRawPointer, length: Int) {
        let slotBytes = parser.fieldCount &* MemoryLayout<FieldSlot>.stride
        unsafe block = http_parser_allocate(UInt64(slotBytes &+ length))
        unsafe block.copyMemory(from: parser.slots, byteCount: slotBytes)
        unsafe (block + slotBytes).copyMemory(from: bytes, byteCount: length)
        self.length = UInt32(truncatingIfNeeded: length)
        fieldCount = UInt32(truncatingIfNeeded: parser.fieldCount)
        methodStart = UInt32(truncatingIfNeeded: parser.methodStart)
        targetStart = UInt32(truncatingIfNeeded: parser.targetStart)
        targetEnd = UInt32(truncatingIfNeeded: parser.targetEnd)
        knownMethod = parser.method
        targetForm = parser.targetForm
        version = parser.version
        framingFields = parser.framing
    }

    /// Copies the head that `parser` has just read from the first `length` of `bytes`.
    /// - Parameters:
    ///   - parser: the parser, of kind `.request`, whose head is complete.
    ///   - bytes: the bytes it was given last.
    ///   - length: what `HeadParser.parse(_:)` returned for these bytes.
    public init(_ parser: borrowing HeadParser, copying bytes: Span<UInt8>, length: Int) {
        precondition(parser.kind == .request, "the parser reads requests")
        precondition(length > 0 && length <= bytes.count, "no head of that length")
        let region = unsafe bytes.withUnsafeBytes { unsafe $0 }
        guard let base = region.baseAddress else { preconditionFailure("no bytes") }
        unsafe self.init(parser, bytes: base, length: length)
    }

    deinit {
        unsafe http_parser_release(block, UInt64(blockBytes))
    }

    private var blockBytes: Int {
        Int(fieldCount) &* MemoryLayout<FieldSlot>.stride &+ Int(length)
    }

    private var bytes: UnsafeRawPointer {
        unsafe UnsafeRawPointer(block + Int(fieldCount) &* MemoryLayout<FieldSlot>.stride)
    }

    package var table: FieldTable {
        unsafe FieldTable(
            bytes: bytes, slots: UnsafePointer(block.assumingMemoryBound(to: FieldSlot.self)),
            count: Int(fieldCount))
    }

    package var targetBytes: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: bytes + Int(targetStart), count: Int(targetEnd &- targetStart))
    }

    /// The method.
    public var method: HTTPMethod {
        guard knownMethod == .other else { return HTTPMethod(knownMethod) }
        let name = unsafe UnsafeRawBufferPointer(
            start: bytes + Int(methodStart), count: Int(targetStart &- methodStart) - 1)
        return unsafe HTTPMethod(.other, custom: String(decoding: name, as: UTF8.self))
    }

    /// What the request line names.
    public var target: RequestTarget {
        unsafe RequestTarget(text: String(decoding: targetBytes, as: UTF8.self), form: targetForm)
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
        framingFields.contentLength < 0 ? nil : framingFields.contentLength
    }

    /// Whether the connection may carry another request (RFC 9112 section 9.3).
    public var isPersistent: Bool {
        Persistence.isPersistent(version: version, fields: framingFields, framing: framing)
    }

    /// Whether the client waits for `100 Continue` (RFC 9110 section 10.1.1).
    public var expectsContinue: Bool {
        version >= .http11 && framingFields.flags.contains(.expectContinue)
    }

    /// Whether the client offers another protocol (RFC 9110 section 7.8). HTTP/1.0 cannot.
    public var offersUpgrade: Bool {
        version >= .http11 && framingFields.flags.contains(.upgradeField)
            && framingFields.flags.contains(.upgradeOption)
    }
}
