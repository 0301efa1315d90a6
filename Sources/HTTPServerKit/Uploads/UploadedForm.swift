public import HTTPCodecs

/// A browser's form: its fields in memory, its files on disk.
///
/// ```swift
/// let form = try await request.form()
/// let title = form["title"] ?? "untitled"
/// for file in form.files { print(file.fileName, file.size) }
/// try await form.file("photo")?.move(to: "/srv/photos/\(number).jpg")
/// ```
///
/// Files that were not moved are removed once neither the form nor a file of it is in use, also
/// when the handler has thrown an error.
public struct UploadedForm: Sendable {
    /// The limits of a form.
    public struct Limits: Hashable, Sendable {
        /// The limits of `multipart/form-data`; 4 GiB in all by default.
        public var multipart = MultipartLimits.standard
        /// The limits of `application/x-www-form-urlencoded`, and how strictly it is read.
        public var urlEncoded = FormURLEncoded.Options.standard
        /// The most bytes in the names and values of all fields that are not files, which are kept
        /// in memory; a longer form gets 413.
        public var fieldBytes = 2 << 20

        /// The defaults: 4 GiB to disk, 2 MiB in memory.
        public init() {}

        /// The defaults.
        public static var standard: Self { Self() }
    }

    /// The fields that are not files, in the order of the form. Values may be UTF-8, US-ASCII or
    /// ISO-8859-1; the media type of a part, or a field `_charset_` for all, names the charset (RFC
    /// 7578 section 4.6).
    public var fields: FormURLEncoded
    /// The files, in the order of the form. A file field without a chosen file is left out.
    public var files: [UploadedFile]

    init(fields: FormURLEncoded, files: [UploadedFile] = []) {
        self.fields = fields
        self.files = files
    }

    /// The value of the first field with this name.
    public subscript(name: String) -> String? { fields[name] }

    /// The values of all fields with this name, in order.
    public func values(of name: String) -> [String] { fields.values(of: name) }

    /// The first file of the field with this name.
    public func file(_ name: String) -> UploadedFile? { files.first { $0.name.hasBytes(of: name) } }
}
