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
/// Files that were not moved are removed when neither the form nor one of its files is in use, even
/// if the handler has thrown an error.
public struct UploadedForm: Sendable {
    /// The limits of a form.
    public struct Limits: Hashable, Sendable {
        /// The limits of `multipart/form-data`; 4 GiB in all by default.
        public var multipart = MultipartLimits.standard
        /// The limits and strictness for `application/x-www-form-urlencoded`.
        public var urlEncoded = FormURLEncoded.Options.standard
        /// The most bytes in the names and values of all multipart fields that are not files. They
        /// are kept in memory; more bytes get 413.
        public var fieldBytes = 2 << 20

        /// The defaults: 4 GiB for a multipart form, 2 MiB of it in memory.
        public init() {}

        /// The defaults.
        public static var standard: Self { Self() }
    }

    /// The fields that are not files, in the order of the form. Values may be UTF-8, US-ASCII or
    /// ISO-8859-1. The charset is in the media type of a part, or in a field `_charset_` for all
    /// parts (RFC 7578 section 4.6).
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
