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
/// Files that are not moved are removed when the form and its files go, however the handler ends.
public struct UploadedForm: Sendable {
    /// How much of a form is taken.
    public struct Limits: Hashable, Sendable {
        /// The limits of `multipart/form-data`; 4 GiB in all unless said otherwise.
        public var multipart = MultipartLimits.standard
        /// The limits of `application/x-www-form-urlencoded`, and how strictly it is read.
        public var urlEncoded = FormURLEncoded.Options.standard
        /// The most bytes of names and values of all fields that are no files, which are kept in
        /// memory; above it 413.
        public var fieldBytes = 2 << 20

        /// The defaults: 4 GiB to disk, 2 MiB in memory.
        public init() {}

        /// The defaults.
        public static var standard: Self { Self() }
    }

    /// The fields that are no files, in the order of the form. Values may be UTF-8, US-ASCII or
    /// ISO-8859-1, as each of them says, or a field `_charset_` for all (RFC 7578 section 4.6).
    public var fields: FormURLEncoded
    /// The files, in the order of the form. A file field where none was chosen is left out.
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
