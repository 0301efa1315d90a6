public import HTTPParser

/// The fields of a part.
///
/// RFC 7578, section 4.
public struct PartHead: Hashable, Sendable {
    /// All fields, as received.
    public var fields: HTTPFields
    /// The name of the form's field. A nested part has the name of the outer part.
    public var name: String?
    /// The file name, which the client chose: do not use it as a path. Empty if a browser sends a
    /// file field without a file.
    public var fileName: String?
    /// The media type; nil if it is missing or malformed. In a form, content without one is plain
    /// text.
    public var mediaType: MediaType?
    /// Whether the part is nested in another part.
    public var isNested: Bool

    /// Creates a head.
    public init(
        fields: HTTPFields = HTTPFields(), name: String? = nil, fileName: String? = nil,
        mediaType: MediaType? = nil, isNested: Bool = false
    ) {
        self.fields = fields
        self.name = name
        self.fileName = fileName
        self.mediaType = mediaType
        self.isNested = isNested
    }

    /// Whether the part is a file, that is, has a file name.
    public var isFile: Bool { fileName != nil }
}

/// The kind of an error in the fields of a part, and the field.
struct PartHeadFault: Error {
    var kind: CodecError.Kind
    var field: HTTPFieldName?
    var detail: String

    init(_ kind: CodecError.Kind, _ field: HTTPFieldName? = nil, _ detail: String = "") {
        self.kind = kind
        self.field = field
        self.detail = detail
    }
}

extension PartHead {
    /// Reads the fields of a part.
    /// - Parameter outer: the name of the part that contains this one; nil if it is not nested.
    init(
        _ fields: HTTPFields, kind: MultipartKind, outer: String?, nameBytes: Int
    ) throws(PartHeadFault) {
        self.init(fields: fields, isNested: outer != nil)
        // Readers disagree on which of two fields counts, which could bypass filters.
        for once in [HTTPFieldName.contentDisposition, .contentType] {
            guard fields.values(of: once).count < 2 else {
                throw PartHeadFault(.invalidPartHead, once, "repeated \(once)")
            }
        }
        mediaType = fields[.contentType].flatMap { MediaType($0) }
        if kind == .formData {
            try readFormDisposition()
            if let outer { name = outer }
            try checkForm(nameBytes: nameBytes)
        } else if let disposition = fields[.contentDisposition].flatMap({ ContentDisposition($0) })
        {
            (name, fileName) = (disposition.name, disposition.fileName)
        }
    }

    /// RFC 7578 section 4.2: a part of a form has this field, with the type `form-data`. Nested
    /// parts may have another type, because RFC 2388 used `file`.
    private mutating func readFormDisposition() throws(PartHeadFault) {
        guard let text = fields[.contentDisposition] else { return }
        guard let disposition = ContentDisposition(formData: text) else {
            throw PartHeadFault(.invalidPartHead, .contentDisposition, "Content-Disposition")
        }
        guard isNested || disposition.type == "form-data" else {
            throw PartHeadFault(.invalidPartHead, .contentDisposition, "not form-data")
        }
        (name, fileName) = (disposition.name, disposition.fileName)
    }

    private func checkForm(nameBytes: Int) throws(PartHeadFault) {
        guard let name else { throw PartHeadFault(.missingPartName, .contentDisposition) }
        for text in [name, fileName ?? ""] where text.utf8.count > nameBytes {
            throw PartHeadFault(.partHeadTooLong, .contentDisposition, "name")
        }
        try checkTransferEncoding()
    }

    /// RFC 7578 section 4.7: forms have no transfer encoding. Encoded content would reach the
    /// application undecoded, so it is refused.
    private func checkTransferEncoding() throws(PartHeadFault) {
        for coding in fields.values(of: .contentTransferEncoding) {
            guard coding.isASCII("7bit") || coding.isASCII("8bit") || coding.isASCII("binary")
            else {
                throw PartHeadFault(.unsupportedContentCoding, .contentTransferEncoding, coding)
            }
        }
    }
}

extension HTTPFieldName {
    /// `Content-Transfer-Encoding`, which parts of mail have (RFC 2045 section 6).
    static var contentTransferEncoding: Self { "Content-Transfer-Encoding" }
}
