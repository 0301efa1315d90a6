internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Receiving content, and completing an upload.
extension UploadSite {
    /// An interim response reports the offset after this many bytes, but not before `progressPause`
    /// has passed since the last one: a response to a client that has just gone resets the
    /// connection, and content on its way is lost.
    private static let progressBytes: Int64 = 16 << 20
    private static let progressPause = Duration.seconds(5)

    /// Answers PATCH.
    func append(
        _ request: Request, _ id: UploadID, _ dialect: UploadDialect
    ) async throws -> Response {
        try refuseCoded(request)
        try requireMediaType(request, dialect)
        let wanted = FieldItem.integer(.uploadOffset) { request.fields.values(of: $0) }
        guard let wanted else {
            throw UploadProblem(.badRequest, "Upload-Offset is missing or malformed")
        }
        let isLast = try dialect.isLast(request)
        return try await requestQueue.run(id, ifAllowed: { _ = try await record(id, request) }) {
            var record = try await self.record(id, request)
            let offset = try await self.offset(id, record)
            if let answer = record.answer {
                return try replay(answer, request, wanted, isLast, dialect)
            }
            guard wanted == offset else {
                throw UploadProblem.mismatch(expected: offset, provided: wanted)
            }
            let length = try announcedLength(
                request, isComplete: isLast, offset: offset, known: record.length)
            try refuse(length)
            if record.length != length {
                record.length = length
                let told = record
                try await work { [folder] in try folder.write(told, id) }
            }
            let known = record
            if dialect.takesProgress, request.hasContent {
                try await tellOffset(offset, request, dialect)
            }
            return try await receive(request, id, known, isLast: isLast, dialect) { offset in
                var response = Response(.noContent)
                response.fields[.uploadOffset] = "\(offset)"
                tell(known, dialect, in: &response.fields)
                response.fields.remove(.uploadLength)
                response.fields.remove(.uploadMetadata)
                dialect.tell(isComplete: false, in: &response.fields)
                return response
            }
        }
    }

    private func requireMediaType(
        _ request: Request, _ dialect: UploadDialect
    ) throws(UploadProblem) {
        guard dialect.isTus || dialect.requiresMediaType else { return }
        let wanted =
            dialect.isTus ? "application/offset+octet-stream" : "application/partial-upload"
        guard request.mediaType?.essence != wanted else { return }
        var problem = UploadProblem(.unsupportedMediaType, "expected \(wanted)")
        problem.fields[.acceptPatch] = wanted
        throw problem
    }

    /// Sends the answer again to a client that missed it.
    private func replay(
        _ answer: KeptAnswer, _ request: Request, _ wanted: Int64, _ isLast: Bool,
        _ dialect: UploadDialect
    ) throws(UploadProblem) -> Response {
        guard wanted == answer.length else {
            var problem = UploadProblem.mismatch(expected: answer.length, provided: wanted)
            problem.isComplete = true
            throw problem
        }
        guard dialect.isTus || isLast, !request.hasContent else {
            throw UploadProblem(
                .badRequest, "the upload is complete", kind: .completed, offset: answer.length)
        }
        return finished(answer.response, answer.length, dialect)
    }

    /// Receives the content of a request, and completes the upload if this content is the last.
    /// - Parameters:
    ///   - isLast: whether the request says that its content is the last; ignored for tus, where
    ///     the announced length decides.
    ///   - unfinished: makes the answer to an unfinished upload from its offset.
    func receive(
        _ request: Request, _ id: UploadID, _ record: UploadRecord, isLast: Bool,
        _ dialect: UploadDialect, unfinished: (Int64) -> Response
    ) async throws -> Response {
        let arrival = UploadArrival(request)
        guard requestQueue.mayStop(id, { arrival.endSoon() }) else {
            throw UploadProblem(.conflict, "a newer request for this upload has arrived")
        }
        defer { arrival.end() }
        let offset = try await take(request, id, record, dialect, arrival)
        arrival.end()
        requestQueue.mayStop(id, nil)
        if dialect.isTus ? offset == record.length : isLast {
            guard offset == record.length ?? offset else {
                throw UploadProblem.length("the content ends before the announced length")
            }
            return try await request.outliving { [self] in
                try await complete(request, id, record, offset, dialect)
            }
        }
        return unfinished(offset)
    }

    /// Appends the content of a request to the part.
    /// - Returns: the new offset.
    private func take(
        _ request: Request, _ id: UploadID, _ record: UploadRecord, _ dialect: UploadDialect,
        _ arrival: UploadArrival
    ) async throws -> Int64 {
        let (file, start) = try await work { [folder] in
            let file = try folder.part(id)
            return (file, try file.status().size)
        }
        let limit = min(record.length ?? .max, options.byteLimit) - start
        let part = part(file)
        var writer = FileWriter(part)
        var told: Int64 = 0
        var next = ContinuousClock.now + Self.progressPause
        do {
            for try await piece in request.body.raw {
                guard Int64(piece.count) <= limit - writer.count else {
                    try await refuseMore(id, record)
                    break
                }
                arrival.add(piece.count)
                try await writer.write(piece)
                guard dialect.takesProgress, writer.count - told >= Self.progressBytes,
                    next <= .now
                else { continue }
                (told, next) = (writer.count, .now + Self.progressPause)
                try await writer.flush()
                try await work { [folder] in try folder.synchronizePart(id, part) }
                try await tellOffset(start + told, request, dialect)
            }
        } catch let error as UploadProblem {
            throw error
        } catch {
            // Received content is kept, whatever the reason why no more arrives.
            try await writer.flush()
            try await work { [folder] in try folder.synchronizePart(id, part) }
            throw error
        }
        try await writer.flush()
        try await work { [folder] in try folder.synchronizePart(id, part) }
        return start + writer.count
    }

    /// Removes an upload with more content than was announced or than the limit, and refuses the
    /// request (section "Length").
    private func refuseMore(_ id: UploadID, _ record: UploadRecord) async throws {
        try await remove(id, record)
        guard record.length == nil else {
            throw UploadProblem.length("there is more content than was announced")
        }
        throw tooLarge
    }

    /// Sends an interim response with the offset.
    ///
    /// The first is sent before the content of a PATCH is read. Browsers repeat a request by
    /// themselves when a persistent connection breaks before any response, and the repeated offset
    /// is wrong. After an interim response they leave it to the page, which first asks for the
    /// offset.
    private func tellOffset(
        _ offset: Int64, _ request: Request, _ dialect: UploadDialect
    ) async throws {
        guard let status = HTTPStatus(104) else { return }
        var fields: HTTPFields = [.uploadOffset: "\(offset)"]
        dialect.stamp(&fields)
        try await request.sendInterim(status, fields: fields)
    }

    // MARK: The end

    /// Passes the whole content to the handler, and keeps its answer.
    func complete(
        _ request: Request, _ id: UploadID, _ record: UploadRecord, _ length: Int64,
        _ dialect: UploadDialect
    ) async throws -> Response {
        var record = record
        if record.length == nil {
            record.length = length
            let told = record
            try await work { [folder] in try folder.write(told, id) }
        }
        let file = try await work { [folder] in try folder.content(id, length: length) }
        let whole = try record.request(inPlaceOf: request, length: length, body: .file(file))
        let response: Response
        do {
            response = try await handler.respond(to: whole)
        } catch {
            response = request.response(for: error)
        }
        // The next attempt may have other credentials, or find more disk space, no lock, or a
        // server that is not about to stop.
        let isForNow = [401, 407, 408, 423, 425, 429, 503, 504, 507].contains(response.status.code)
        guard !isForNow, !whole.isRefusedForCredentials else {
            var response = response
            response.fields[.uploadOffset] = "\(length)"
            dialect.tell(isComplete: false, in: &response.fields)
            dialect.stamp(&response.fields)
            return response
        }
        do {
            try await keep(response, of: id, record, length)
        } catch {
            // The handler has done its work. An error in place of its answer would make the client
            // repeat the upload. A client that misses the answer finds the upload unfinished.
        }
        return finished(response, length, dialect)
    }

    private func keep(
        _ response: Response, of id: UploadID, _ record: UploadRecord, _ length: Int64
    ) async throws {
        var record = record
        record.answer = KeptAnswer(response, length: length)
        record.fields = []
        record.expires = UploadFolder.now() + seconds
        let kept = record
        try await work { [self] in
            do {
                try folder.write(kept, id)
                folder.removePart(id)
            } catch {
                // Synchronization may fail after the record was renamed into place. The upload is
                // finished then, and its part will be removed together with the record.
                guard let found = try folder.record(id), found.answer != nil else { throw error }
            }
            noteAnswer(to: id, of: UserKey(kept.owner))
        }
        countEnd(of: UserKey(record.owner))
    }

    /// The handler's answer in the form that the client's protocol expects.
    private func finished(
        _ response: Response, _ length: Int64, _ dialect: UploadDialect
    ) -> Response {
        var response = completed(response, dialect)
        response.fields[.uploadOffset] = "\(length)"
        // For tus, only 204 means success.
        if dialect.isTus, response.status.isSuccess {
            response.status = .noContent
            response.body = .empty
            response.fields.removeFactsOfContent()
        }
        return response
    }
}
