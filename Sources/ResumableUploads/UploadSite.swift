internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Answers the requests of both protocols.
final class UploadSite: Sendable {
    let handler: any Handler
    let folder: UploadFolder
    let options: ResumableUploadHandler.Options
    let requestQueue = UploadRequestQueue()
    /// Replaces the file of a part in tests; otherwise returns its argument.
    let part: @Sendable (OpenFile) -> OpenFile
    /// Returns the answer that refuses a request by its head, or `nil` to accept the request.
    /// Without this function, an upload is refused only when it is complete.
    let precheck: (@Sendable (Request) async throws -> Response?)?
    /// How many unfinished uploads each user has.
    private let counts = Locked<[UserKey: Int]>([:])
    /// The finished uploads whose answers are kept, the oldest first.
    private let answered = Locked<[UserKey: [UploadID]]>([:])
    /// Whether the first sweep has counted the uploads and answers of earlier processes.
    private let hasCounted = Locked(false)
    private let sweeper = Locked<Task<Void, Never>?>(nil)

    init(
        _ handler: any Handler, _ folder: UploadFolder, _ options: ResumableUploadHandler.Options,
        _ part: @escaping @Sendable (OpenFile) -> OpenFile
    ) {
        (self.handler, self.folder, self.options, self.part) = (handler, folder, options, part)
        if let precheck = options.precheck {
            self.precheck = precheck
        } else if let asked = handler as? any PrecheckingHandler {
            precheck = { try await asked.precheck($0) }
        } else {
            precheck = nil
        }
    }

    deinit {
        close()
    }

    /// Removes expired uploads now, and each hour from now on.
    func start() {
        sweep()
        let task = Task { [weak self] in
            while (try? await Task.sleep(for: .seconds(3_600))) != nil {
                guard let self else { return }
                await BlockingPool.files.value { self.sweep() }
            }
        }
        sweeper.withLock { $0 = task }
    }

    /// Removes expired uploads and updates the counts. It blocks.
    private func sweep() {
        do throws(SystemError) {
            let swept = try folder.sweep { requestQueue.isActive($0) }
            let isFirst = hasCounted.withLock { hasCounted in
                defer { hasCounted = true }
                return !hasCounted
            }
            // A later sweep only subtracts, because uploads may have begun or ended meanwhile.
            guard !isFirst else {
                counts.withLock { $0 = swept.kept }
                for upload in swept.answered.sorted(by: { $0.expires < $1.expires }) {
                    noteAnswer(to: upload.id, of: upload.owner)
                }
                return
            }
            for upload in swept.expiredAnswers { forgetAnswer(to: upload.id, of: upload.owner) }
            for (owner, number) in swept.removed {
                for _ in 0..<number { countEnd(of: owner) }
            }
        } catch {
            // The counts stay, and the next sweep tries again.
        }
    }

    func close() {
        sweeper.withLock { $0?.cancel() }
        folder.close()
    }

    // MARK: Counts

    /// Counts one more upload of a user.
    /// - Throws: `UploadProblem` with 429 when the user has `uploadsPerUser` unfinished uploads.
    func count(_ owner: UserKey) throws(UploadProblem) {
        let isTaken = counts.withLock { counts in
            guard counts[owner, default: 0] < options.uploadsPerUser else { return false }
            counts[owner, default: 0] += 1
            return true
        }
        guard !isTaken else { return }
        throw UploadProblem(
            .tooManyRequests, "there are \(options.uploadsPerUser) unfinished uploads already")
    }

    /// Counts one unfinished upload less, because it is finished or gone.
    func countEnd(of owner: UserKey) {
        counts.withLock { counts in
            let left = (counts[owner] ?? 1) - 1
            counts[owner] = left > 0 ? left : nil
        }
    }

    /// Notes that the answer to one more upload is kept. Each user has at most `uploadsPerUser`
    /// kept answers: above that number, the oldest is removed. It blocks.
    func noteAnswer(to id: UploadID, of owner: UserKey) {
        let oldest = answered.withLock { answered -> UploadID? in
            answered[owner, default: []].append(id)
            guard answered[owner, default: []].count > max(options.uploadsPerUser, 1) else {
                return nil
            }
            return answered[owner]?.removeFirst()
        }
        if let oldest { folder.remove(oldest) }
    }

    private func forgetAnswer(to id: UploadID, of owner: UserKey) {
        answered.withLock { answered in
            let left = (answered[owner] ?? []).filter { $0 != id }
            answered[owner] = left.isEmpty ? nil : left
        }
    }

    // MARK: Answers

    /// How long an upload may take, in seconds: a century at most, so that the sum with a time does
    /// not overflow.
    var seconds: Int64 { min(max(options.lifetime.components.seconds, 1), 100 * 366 * 86_400) }

    func answer(_ request: Request) async throws -> Response {
        let id = UploadID(of: request)
        guard let dialect = UploadDialect(of: request) else {
            return try await unknownVersion(request, id)
        }
        do {
            let versions = request.fields.values(of: .tusResumable)
            if dialect.isTus, versions.count != 1 || !versions[0].hasBytes(of: "1.0.0") {
                var problem = UploadProblem(.preconditionFailed, "only tus 1.0.0 is supported")
                problem.fields[.tusVersion] = "1.0.0"
                throw problem
            }
            if let id { return try await answer(request, for: id, dialect) }
            if dialect.isTus { return try await beginTus(request) }
            return try await begin(request, dialect)
        } catch let problem as UploadProblem {
            return problem.response(dialect)
        } catch let error as CodecError where error.kind == .fileNotWritable {
            return UploadProblem(.insufficientStorage, "the disk is full").response(dialect)
        }
    }

    /// Answers a request in an unknown version of the draft. If the request has the whole content,
    /// the handler gets it, because such an upload need not be resumable.
    private func unknownVersion(_ request: Request, _ id: UploadID?) async throws -> Response {
        let complete = FieldItem.boolean(.uploadComplete) { request.fields.values(of: $0) }
        if id == nil, complete == true { return try await handler.respond(to: request) }
        let versions = UploadDialect.versions
        return UploadProblem(
            .badRequest,
            "versions \(versions.lowerBound) to \(versions.upperBound) of the draft are supported"
        ).response(.draft(nil))
    }

    private func answer(
        _ request: Request, for id: UploadID, _ dialect: UploadDialect
    ) async throws -> Response {
        let override = request.fields[.methodOverride].flatMap { HTTPMethod($0) }
        let method = dialect.isTus && request.method == .post ? override ?? .post : request.method
        switch method {
        case .head, .get: return try await tell(request, id, dialect)
        case .patch: return try await append(request, id, dialect)
        case .delete: return try await forget(request, id, dialect)
        case .options:
            var response = Response(.noContent, fields: [.allow: Self.allowed])
            tellLimits(request, &response.fields)
            return response
        default:
            var problem = UploadProblem(.methodNotAllowed, "uploads do not support this method")
            problem.fields[.allow] = Self.allowed
            throw problem
        }
    }

    private static let allowed = "HEAD, GET, PATCH, DELETE, OPTIONS"

    /// Passes a request that is not for an upload to the handler.
    func pass(_ request: Request) throws -> Answer {
        let answer = try handler.answer(request)
        guard request.method == .options else { return answer }
        return try answer.map { [self] response in
            var response = response
            if response.status.isSuccess { tellLimits(request, &response.fields) }
            return response
        }
    }

    /// Adds the limits and the supported protocols to the answer to OPTIONS.
    func tellLimits(_ request: Request, _ fields: inout HTTPFields) {
        // Version 6 has its own syntax. Versions before it have no limits, and their clients ignore
        // the field.
        let isSixth = UploadDialect(of: request) == .draft(6)
        UploadDialect.draft(isSixth ? 6 : nil).tell(
            byteLimit: options.byteLimit, age: seconds, in: &fields)
        fields.append(.acceptPatch, "application/partial-upload")
        fields[.tusResumable] = "1.0.0"
        fields[.tusVersion] = "1.0.0"
        fields[.tusExtension] =
            "creation,creation-with-upload,creation-defer-length,expiration,termination"
        if options.byteLimit < .max { fields[.tusMaxSize] = "\(options.byteLimit)" }
    }

    // MARK: One upload

    /// The record of the upload that a request names.
    /// - Throws: `UploadProblem` with 404 when the upload does not exist, has expired, belongs to
    ///   another user, or began at another mount of the handler.
    func record(_ id: UploadID, _ request: Request) async throws -> UploadRecord {
        let found = try await work { [folder] in try folder.record(id) }
        guard let found, found.expires > UploadFolder.now(),
            UserKey(found.owner) == UserKey(request.identity?.name),
            found.mount == nil || found.mount == request.pathOfUploads
        else { throw UploadProblem.notFound }
        return found
    }

    /// The offset of an upload: how many bytes have arrived.
    /// - Throws: `UploadProblem` with 404 when content is lost; then the client must begin again.
    func offset(_ id: UploadID, _ record: UploadRecord) async throws -> Int64 {
        if let answer = record.answer { return answer.length }
        if folder.hasFailed(id) {
            try await remove(id, record)
            throw UploadProblem.notFound
        }
        do {
            return try await work { [folder] in try folder.offset(id) }
        } catch let error as SystemError where error.isMissing {
            throw UploadProblem.notFound
        }
    }

    /// Runs blocking work.
    /// - Throws: for a full disk the error that becomes 507; for a lack of descriptors or memory
    ///   `UploadProblem` with 503.
    func work<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await BlockingPool.files.run(body)
        } catch let error as SystemError where error.isStorageFull {
            throw CodecError(.fileNotWritable, error.reason)
        } catch let error as SystemError where error.isExhausted {
            var problem = UploadProblem(.serviceUnavailable, error.reason)
            problem.fields[.retryAfter] = "1"
            throw problem
        }
    }

    /// Removes an upload.
    /// - Throws: `UploadProblem` with 503 when the removal fails; then the upload still counts.
    func remove(_ id: UploadID, _ record: UploadRecord) async throws {
        guard try await work({ [folder] in folder.remove(id) }) else {
            throw UploadProblem(.serviceUnavailable, "the upload cannot be removed")
        }
        if record.answer == nil {
            countEnd(of: UserKey(record.owner))
        } else {
            forgetAnswer(to: id, of: UserKey(record.owner))
        }
    }

    /// Answers HEAD and GET with the offset.
    private func tell(
        _ request: Request, _ id: UploadID, _ dialect: UploadDialect
    ) async throws -> Response {
        try await requestQueue.run(id, ifAllowed: { _ = try await record(id, request) }) {
            let record = try await self.record(id, request)
            let offset = try await self.offset(id, record)
            // A tus client takes an offset equal to the length for success, and sends no more.
            if dialect.isTus, record.answer == nil, offset == record.length {
                return try await completeLate(request, id, record, offset)
            }
            if dialect.isTus, let answer = record.answer, answer.status >= 400 {
                return refused(answer)
            }
            var response = Response(dialect.isTus ? .ok : .noContent)
            response.fields[.cacheControl] = "no-store"
            response.fields[.uploadOffset] = "\(offset)"
            tell(record, dialect, in: &response.fields)
            dialect.tell(isComplete: record.answer != nil, in: &response.fields)
            return response
        }
    }

    /// Repeats the handler's refusal in place of an offset, which a tus client would take for
    /// success.
    private func refused(_ answer: KeptAnswer) -> Response {
        var response = completed(answer.response, .tus)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// Completes an upload whose whole content has arrived, but whose process ended before the
    /// handler had answered, or whose handler refused it for the time being.
    private func completeLate(
        _ request: Request, _ id: UploadID, _ record: UploadRecord, _ offset: Int64
    ) async throws -> Response {
        var response = try await request.outliving { [self] in
            try await complete(request, id, record, offset, .tus)
        }
        guard response.status.isSuccess else { return response }
        response = Response(.ok, fields: [.cacheControl: "no-store"])
        response.fields[.uploadOffset] = "\(offset)"
        tell(record, .tus, in: &response.fields)
        return response
    }

    /// Adds the fields that describe an upload: length and limits; in tus also metadata and expiry.
    func tell(_ record: UploadRecord, _ dialect: UploadDialect, in fields: inout HTTPFields) {
        let length = record.answer?.length ?? record.length
        if let length { fields[.uploadLength] = "\(length)" }
        let left = max(record.expires - UploadFolder.now(), 0)
        dialect.tell(byteLimit: options.byteLimit, age: left, in: &fields)
        dialect.stamp(&fields)
        guard dialect.isTus else { return }
        if length == nil { fields[.uploadDeferLength] = "1" }
        if let metadata = record.metadata { fields[.uploadMetadata] = metadata }
        fields[.uploadExpires] = HTTPDate(secondsSinceEpoch: record.expires).description
    }

    /// Answers DELETE.
    private func forget(
        _ request: Request, _ id: UploadID, _ dialect: UploadDialect
    ) async throws -> Response {
        try await requestQueue.run(id, ifAllowed: { _ = try await record(id, request) }) {
            try await remove(id, try await self.record(id, request))
            var response = Response(.noContent)
            dialect.stamp(&response.fields)
            return response
        }
    }
}
