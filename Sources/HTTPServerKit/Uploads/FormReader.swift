internal import HTTPCodecs
internal import HTTPServerCore

/// Reads the parts of `multipart/form-data` as they arrive: values into memory, files to the disk.
struct FormReader {
    private struct Field {
        var name: String
        var value: [UInt8]
        var charset: String?
    }

    private let limits: UploadedForm.Limits
    private let parent: String?
    private var folder: TemporaryFolder?
    private var fieldBytes = 0
    private var fields: [Field] = []
    private var form = UploadedForm(fields: FormURLEncoded())

    private init(limits: UploadedForm.Limits, parent: String?) {
        self.limits = limits
        self.parent = parent
    }

    /// Reads a form from its first byte to its last.
    static func read(
        _ body: RequestBody, _ mediaType: MediaType, limits: UploadedForm.Limits,
        below parent: String?
    ) async throws -> UploadedForm {
        var reader = FormReader(limits: limits, parent: parent)
        for try await part in try MultipartParts(of: mediaType, in: body, limits: limits.multipart)
        {
            if part.isFile {
                try await reader.takeFile(part)
            } else {
                try await reader.takeField(part)
            }
        }
        return try reader.finished()
    }

    private mutating func takeField(_ part: MultipartPart) async throws {
        let name = part.name ?? ""
        fieldBytes += name.utf8.count
        let value = try await part.collect(upTo: max(limits.fieldBytes - fieldBytes, 0))
        fieldBytes += value.count
        guard fieldBytes <= limits.fieldBytes else {
            throw CodecError(.inputTooLong, at: Int64(limits.fieldBytes), "the fields of the form")
        }
        fields.append(Field(name: name, value: value, charset: part.mediaType?["charset"]))
    }

    /// The form, with its values decoded. The charset of a value is that of its part, else that of
    /// the field `_charset_` anywhere in the form (RFC 7578 sections 4.5 and 4.6).
    private mutating func finished() throws(CodecError) -> UploadedForm {
        let common = fields.first { $0.name.hasBytes(of: "_charset_") }.map { field in
            String(decoding: field.value, as: UTF8.self)
        }
        for field in fields {
            let charset = try TextCharset(named: field.charset ?? common)
            form.fields.append(name: field.name.utf8, value: charset.utf8(field.value))
        }
        return form
    }

    private mutating func takeFile(_ part: MultipartPart) async throws {
        var content = part.content.makeAsyncIterator()
        let first = try await content.next()
        // Browsers send a file field without a chosen file with an empty name and no content.
        if first == nil, part.fileName?.isEmpty != false { return }
        let folder = try await openFolder()
        let (path, file) = try await folder.createFile()
        var writer = FileWriter(file)
        var piece = first
        while let bytes = piece {
            try await writer.write(bytes)
            piece = try await content.next()
        }
        try await writer.flush()
        form.files.append(
            UploadedFile(head: part.head, size: writer.count, path: path, folder: folder))
    }

    private mutating func openFolder() async throws -> TemporaryFolder {
        if let folder { return folder }
        let folder = try await TemporaryFolder.create(below: parent)
        self.folder = folder
        return folder
    }
}
