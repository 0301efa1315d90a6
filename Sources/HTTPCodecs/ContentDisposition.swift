public import HTTPParser

/// The disposition of content or of a part of a form, and its file name.
///
/// A disposition occurs in two places with different grammars, so there are two parsers and two
/// printed forms:
///
/// ```swift
/// let field = ContentDisposition(#"attachment; filename="E.txt"; filename*=UTF-8''%E2%82%AC.txt"#)
/// field?.fileName                                      // "€.txt"
/// ContentDisposition.attachment(fileName: "€.txt")     // attachment; filename="_.txt"; filename*=…
///
/// let part = ContentDisposition(formData: #"form-data; name="a"; filename="say %22hi%22.txt""#)
/// part?.fileName                                       // "say \"hi\".txt"
/// part?.safeFileName                                   // the same; "x" for "../../x"
/// ```
///
/// The peer chooses the file name: use ``safeFileName`` to name a file.
///
/// RFC 6266 for the field of a message, RFC 7578 section 4.2 for the head of a form's part.
public struct ContentDisposition: Hashable, Sendable {
    /// The places of dispositions.
    public enum Place: Hashable, Sendable {
        /// In the field of a message.
        case field
        /// In the head of a part of `multipart/form-data`.
        case formData
    }

    /// The place of the disposition, which decides how it is printed.
    public let place: Place
    /// The disposition type: `attachment`, `inline`, `form-data`, in lower case.
    public let type: String
    /// The parameter `name`: the name of the form's control.
    public var name: String?
    /// The file name that the peer sent. In a field, `filename*` wins over `filename` if it is
    /// valid.
    public var fileName: String?
    /// The other parameters in their order, each name once.
    public var parameters: [FieldParameter]

    init(_ place: Place, _ type: String, name: String? = nil, fileName: String? = nil) {
        self.place = place
        self.type = type
        self.name = name
        self.fileName = fileName
        parameters = []
    }

    /// Content to be saved, under `fileName` if it is set.
    public static func attachment(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.field, "attachment", fileName: fileName)
    }

    /// Content to be displayed. `fileName` is the name for saving it.
    public static func inline(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.field, "inline", fileName: fileName)
    }

    /// A part of a form: the value of a control, or a file.
    public static func formData(name: String, fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.formData, "form-data", name: name, fileName: fileName)
    }
}

extension ContentDisposition {
    /// Parses the value of the field of a message.
    ///
    /// Nil if the value is malformed or has a parameter twice, which RFC 6266 section 4.1 calls
    /// invalid. A `filename*` that is not an extended value is ignored (RFC 8187 section 3.2.1).
    /// Beyond the grammar, a parameter value without quotes may contain any visible character
    /// except `,`, `;`, `"` and `\`.
    ///
    /// RFC 6266, section 4.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes.span)
    }

    /// Parses the value of the field of a message, given as bytes.
    ///
    /// The same as ``init(_:)-(String)``; a parameter that is not UTF-8 is read as ISO-8859-1.
    public init?(_ bytes: Span<UInt8>) {
        self.init(bytes, .field, usesExtended: true)
    }

    /// Parses the value of the field of a form's part.
    ///
    /// The same as ``init(formData:usesExtendedFileName:)-(Span<UInt8>,_)``.
    public init?(formData text: String, usesExtendedFileName: Bool = false) {
        let bytes = Array(text.utf8)
        self.init(formData: bytes.span, usesExtendedFileName: usesExtendedFileName)
    }

    /// Parses the value of the field of a form's part, as browsers, curl and libraries send it.
    ///
    /// - `%22`, `%0D` and `%0A` in a name are a quote, CR and LF, as in the HTML standard; nothing
    ///   else is percent-decoded.
    /// - A backslash before a quote or a backslash is an escape, as older clients send it.
    ///   Elsewhere it stands for itself, as in `C:\x`. If a browser's name ends with a backslash,
    ///   the closing quote looks like an escaped one: this is accepted only at the very end of the
    ///   value, because a guess elsewhere would let a file name inject parameters.
    /// - Bytes that are not UTF-8 are read as ISO-8859-1.
    ///
    /// Nil if the value is malformed, contains a control character, or has a parameter twice: a
    /// filter may have checked the other one.
    /// - Parameters:
    ///   - bytes: the value of the field.
    ///   - usesExtendedFileName: whether `filename*` is used, and wins over `filename`. RFC 7578
    ///     forbids clients to send it, so it is ignored by default.
    ///
    /// RFC 7578, section 4.2.
    public init?(formData bytes: Span<UInt8>, usesExtendedFileName: Bool = false) {
        self.init(bytes, .formData, usesExtended: usesExtendedFileName)
    }

    private init?(_ bytes: Span<UInt8>, _ place: Place, usesExtended: Bool) {
        var reader = DispositionReader(bytes, place)
        guard let type = reader.takeType(), let parameters = reader.takeParameters() else {
            return nil
        }
        self.init(place, type)
        var extended: String?
        for parameter in parameters {
            switch parameter.name {
            case "name": name = parameter.value
            case "filename": fileName = parameter.value
            case "filename*": extended = ExtendedValue(parameter.value)?.text
            default: self.parameters.append(parameter)
            }
        }
        if usesExtended, let extended { fileName = extended }
    }
}
