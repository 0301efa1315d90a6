internal import CHTTPParserShims

/// The head of a response: a copy of its bytes, and an index into them.
///
/// Like `RequestHead`, this is one block of memory that is read in place, and it is not copyable.
@safe
public struct ResponseHead: ~Copyable, @unchecked Sendable {
    private let block: UnsafeMutableRawPointer
    private let blockBytes: Int
    private let fieldCount: Int
    private let reason: Range<Int>
    /// The status.
    public let status: HTTPStatus
    /// The version of the response.
    public let version: HTTPVersion
    /// How the end of the content is known (RFC 9112 section 6.3). It also depends on the method of
    /// the request.
    public let framing: BodyFraming
    private let framingFields: FramingFields

    init(
        _ parser: borrowing HeadParser, bytes: UnsafeRawPointer, length: Int,
        requestMethod: HTTPMethod
    ) {
        let slotBytes = parser.fieldCount * MemoryLayout<FieldSlot>.stride
        blockBytes = slotBytes + length
        unsafe block = http_parser_allocate(UInt64(blockBytes))
        unsafe block.copyMemory(from: parser.slots, byteCount: slotBytes)
        unsafe (block + slotBytes).copyMemory(from: bytes, byteCount: length)
        fieldCount = parser.fieldCount
        reason = parser.reasonRange
        status = parser.status
        version = parser.version
        framingFields = parser.framing
        framing = .ofResponse(
            status: parser.status, requestMethod: requestMethod, fields: parser.framing)
    }

    deinit {
        unsafe http_parser_release(block, UInt64(blockBytes))
    }

    private var table: FieldTable {
        unsafe FieldTable(
            bytes: UnsafeRawPointer(block + fieldCount * MemoryLayout<FieldSlot>.stride),
            slots: UnsafePointer(block.assumingMemoryBound(to: FieldSlot.self)), count: fieldCount)
    }

    /// The reason phrase as received. Clients should ignore it (RFC 9112 section 4).
    public var reasonPhrase: String {
        unsafe fieldText(
            UnsafeRawBufferPointer(start: table.bytes + reason.lowerBound, count: reason.count))
    }

    /// The fields, read in place.
    public var fields: FieldSection {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(FieldSection(table), borrowing: self) }
    }

    /// The announced length, `nil` without Content-Length. A response to HEAD and a 304 announce
    /// the length of content that does not follow.
    public var contentLength: Int64? {
        framingFields.contentLength < 0 ? nil : framingFields.contentLength
    }

    /// Whether the connection may carry another request (RFC 9112 section 9.3).
    public var isPersistent: Bool {
        Persistence.isPersistent(version: version, fields: framingFields, framing: framing)
    }
}
