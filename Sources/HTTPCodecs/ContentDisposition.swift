public import HTTPParser

/// The disposition of content or of a part of a form, and its file name.
///
/// It stands in two places with two grammars, so there are two readers and two printed forms:
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
/// A file name is what the peer says: use ``safeFileName`` before it becomes the name of a file.
///
/// RFC 6266 for the field of a message, RFC 7578 section 4.2 for the head of a form's part.
public struct ContentDisposition: Hashable, Sendable {
    /// Where it stands.
    public enum Place: Hashable, Sendable {
        /// In the field of a message.
        case field
        /// In the head of a part of `multipart/form-data`.
        case formData
    }

    /// Where it stands, which decides how it is printed.
    public let place: Place
    /// The disposition type: `attachment`, `inline`, `form-data`, in lower case.
    public let type: String
    /// The parameter `name`: the control of the form.
    public var name: String?
    /// The file name that the peer gives. In a field it is that of `filename*`, if there is one
    /// that can be read, or else that of `filename`.
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

    /// Content to be saved, perhaps by that name.
    public static func attachment(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.field, "attachment", fileName: fileName)
    }

    /// Content to be shown, and saved by that name when someone asks for it.
    public static func inline(fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.field, "inline", fileName: fileName)
    }

    /// A part of a form: the value of a control, or a file of it.
    public static func formData(name: String, fileName: String? = nil) -> ContentDisposition {
        ContentDisposition(.formData, "form-data", name: name, fileName: fileName)
    }
}

extension ContentDisposition {
    /// Parses the value of the field of a message.
    ///
    /// Nil if it is malformed or names a parameter twice, which RFC 6266 section 4.1 calls
    /// invalid. A `filename*` that is no extended value is ignored (RFC 8187 section 3.2.1).
    /// Beyond the grammar, a value without quotes may hold any visible character but `,`, `;`,
    /// `"` and `\`.
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
    /// - A backslash before a quote or a backslash is an escape, as older clients send it, and
    ///   means itself elsewhere, as in `C:\x`. A browser's name that ends with a backslash differs
    ///   from an escaped quote only at the very end; elsewhere it is refused, because a guess would
    ///   let a file name inject parameters.
    /// - Bytes that are not UTF-8 are read as ISO-8859-1.
    ///
    /// Nil if it is malformed, holds a control character, or names a parameter twice: of two names
    /// a filter may have looked at the other one.
    /// - Parameters:
    ///   - bytes: the value of the field.
    ///   - usesExtendedFileName: whether a `filename*` counts, and wins. RFC 7578 forbids to send
    ///     it, so it is ignored otherwise.
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
