internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The request that begins an upload.
extension UploadSite {
    /// Begins an upload by the IETF's protocol: a request with content and Upload-Complete.
    func begin(_ request: Request, _ dialect: UploadDialect) async throws -> Response {
        // Other values of the field count as absent, and these methods give content no meaning.
        let isTaken = ![.get, .head, .delete, .options, .trace].contains(request.method)
        guard isTaken, let isComplete = dialect.isComplete(request) else {
            if isTaken { try dialect.refuseOthersPart(request) }
            return try await pass(request).response(to: request)
        }
        if isComplete, request.wireFields.contains(.contentEncoding) {
            return try await handler.respond(to: request)
        }
        try refuseCoded(request)
        let length = try announcedLength(request, isComplete: isComplete, offset: 0, known: nil)
        let record = try makeRecord(request, request.method, length)
        if let refusal = try await refusal(request, record) {
            return completed(refusal, dialect)
        }
        let id = UploadID.random()
        return try await requestQueue.run(id) {
            try await open(id, record)
            var fields: HTTPFields = [.location: id.location(for: request)]
            tell(record, dialect, in: &fields)
            fields.remove(.uploadLength)
            if let status = HTTPStatus(104) {
                try await request.sendInterim(status, fields: fields)
            }
            return try await receive(request, id, record, isLast: isComplete, dialect) { offset in
                fields[.uploadOffset] = "\(offset)"
                dialect.tell(isComplete: false, in: &fields)
                return Response(.created, fields: fields)
            }
        }
    }

    /// Refuses content with a coding, because offsets would count coded bytes, and the coding is
    /// not stored (RFC 9110 section 15.5.16).
    func refuseCoded(_ request: Request) throws(UploadProblem) {
        guard request.wireFields.contains(.contentEncoding) else { return }
        throw UploadProblem(.unsupportedMediaType, "content with a coding cannot be resumed")
    }

    /// Begins an upload by tus: a POST with Upload-Length or Upload-Defer-Length.
    func beginTus(_ request: Request) async throws -> Response {
        guard request.method == .post else { return try await pass(request).response(to: request) }
        try refuseCoded(request)
        let length = FieldItem.integer(.uploadLength) { request.fields.values(of: $0) }
        guard length != nil || request.fields[.uploadDeferLength]?.hasBytes(of: "1") == true else {
            throw UploadProblem(.badRequest, "Upload-Length is missing")
        }
        try refuse(length)
        var record = try makeRecord(request, options.tusMethod ?? .post, length)
        record.take(metadata: request.fields[.uploadMetadata])
        if let refusal = try await refusal(request, record) {
            return completed(refusal, .tus)
        }
        let (id, kept) = (UploadID.random(), record)
        return try await requestQueue.run(id) {
            try await open(id, kept)
            var fields: HTTPFields = [.location: id.location(for: request)]
            tell(kept, .tus, in: &fields)
            fields.remove(.uploadMetadata)
            let answer = try await receive(request, id, kept, isLast: false, .tus) { offset in
                fields[.uploadOffset] = "\(offset)"
                return Response(.created, fields: fields)
            }
            // Even if the upload is complete already, the client needs its location.
            guard answer.status.isSuccess else { return answer }
            var created = answer
            created.status = .created
            created.fields[.location] = fields[.location]
            return created
        }
    }

    private func makeRecord(
        _ request: Request, _ method: HTTPMethod, _ length: Int64?
    ) throws(UploadProblem) -> UploadRecord {
        try refuse(length)
        var record = UploadRecord(
            request, method: method, expires: UploadFolder.now() + seconds)
        record.length = length
        return record
    }

    /// Asks whether the upload would be accepted, before any content is read.
    /// - Returns: the answer that refuses it; `nil` if it would be accepted.
    private func refusal(_ request: Request, _ record: UploadRecord) async throws -> Response? {
        // An empty upload is refused at its end, because no content is sent in vain.
        guard let precheck, record.length != 0 else { return nil }
        let body = RequestBody.pieces { throw RequestBodyError.connectionLost }
        let asked = try record.request(inPlaceOf: request, length: record.length, body: body)
        do {
            return try await precheck(asked)
        } catch {
            return request.response(for: error)
        }
    }

    /// The handler's answer, marked as the last of the upload.
    func completed(_ response: Response, _ dialect: UploadDialect) -> Response {
        var response = response
        dialect.tell(isComplete: true, in: &response.fields)
        dialect.stamp(&response.fields)
        return response
    }

    private func open(_ id: UploadID, _ record: UploadRecord) async throws {
        try count(UserKey(record.owner))
        do {
            try await work { [folder] in try folder.begin(id, record) }
        } catch {
            countEnd(of: UserKey(record.owner))
            throw error
        }
    }

    // MARK: Lengths

    /// The length of the whole upload in bytes; `nil` if no request has announced it.
    /// - Parameters:
    ///   - isComplete: whether the content of the request is the last.
    ///   - offset: the offset of the request's content in the upload.
    ///   - known: the length that an earlier request has announced.
    func announcedLength(
        _ request: Request, isComplete: Bool, offset: Int64, known: Int64?
    ) throws(UploadProblem) -> Int64? {
        var length = known
        if let told = FieldItem.integer(.uploadLength, in: { request.fields.values(of: $0) }) {
            guard told == length ?? told else { throw .length("Upload-Length has changed") }
            // If this length were stored, every later request would be refused.
            guard told >= offset else { throw .length("Upload-Length is less than the offset") }
            length = told
        }
        guard let count = request.wireContentLength else { return length }
        guard count <= options.byteLimit - offset else { throw tooLarge }
        guard count <= (length ?? .max) - offset else {
            throw .length("there is more content than was announced")
        }
        guard isComplete else { return length }
        guard offset + count == length ?? (offset + count) else {
            throw .length("the content ends before the announced length")
        }
        return offset + count
    }

    func refuse(_ length: Int64?) throws(UploadProblem) {
        guard let length, length > options.byteLimit else { return }
        throw tooLarge
    }

    var tooLarge: UploadProblem {
        var problem = UploadProblem(
            .contentTooLarge,
            "the upload is larger than the limit of \(ListingText.size(options.byteLimit))")
        problem.limit = options.byteLimit
        UploadDialect.draft(nil).tell(
            byteLimit: options.byteLimit, age: seconds, in: &problem.fields)
        return problem
    }
}

extension UploadRecord {
    /// Stores the metadata that tus sends with a file: pairs of a name and a value in base64. A
    /// media type in it becomes the Content-Type of the handler's request.
    mutating func take(metadata text: String?) {
        guard let text, text.utf8.count <= 16 << 10 else {
            // This is the type of tus's own requests, not of the file.
            fields.removeAll { $0[1].isASCII("application/offset+octet-stream") }
            return
        }
        metadata = text
        fields.removeAll { $0[0].lowercased() == "content-type" }
        for pair in text.utf8.split(separator: UInt8(ascii: ",")) {
            let words = pair.split(separator: UInt8(ascii: " "))
            guard words.count == 2,
                ["filetype", "type"].contains(where: { words[0].elementsEqual($0.utf8) }),
                let bytes = Base64.decode(Array(words[1])),
                let type = MediaType(String(decoding: bytes, as: UTF8.self))
            else { continue }
            fields.append(["Content-Type", type.description])
            return
        }
    }
}
