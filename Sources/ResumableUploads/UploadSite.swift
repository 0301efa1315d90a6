internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Answers the requests of the protocols.
final class UploadSite: Sendable {
    let handler: any Handler
    let folder: UploadFolder
    let options: ResumableUploadHandler.Options
    let requestQueue = UploadRequestQueue()
    /// Writes in place of the part in tests; otherwise the part itself.
    let part: @Sendable (OpenFile) -> OpenFile
    /// Whether a request would be accepted, judged by its head; `nil` when that is not known.
    let precheck: (@Sendable (Request) async throws -> Response?)?
    /// How many unfinished uploads each user has.
    private let counts = Locked<[String?: Int]>([:])
    /// The finished uploads whose answers are kept, the oldest first.
    private let answered = Locked<[String?: [UploadID]]>([:])
    /// Whether the uploads of earlier processes are among them.
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

    /// Removes what has expired now, and each hour from now on.
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

    /// It blocks.
    private func sweep() {
        do throws(SystemError) {
            let swept = try folder.sweep { requestQueue.isActive($0) }
            let isFirst = hasCounted.withLock { hasCounted in
                defer { hasCounted = true }
                return !hasCounted
            }
            // Later on, uploads may have begun or ended while the folder was read.
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

    // MARK: How many

    /// Counts one more upload of a user.
    /// - Throws: `UploadProblem` with 429 when there are as many as may be.
    func count(_ owner: String?) throws(UploadProblem) {
        let isTaken = counts.withLock { counts in
            guard counts[owner, default: 0] < options.uploadsPerUser else { return false }
            counts[owner, default: 0] += 1
            return true
        }
        guard !isTaken else { return }
        throw UploadProblem(
            .tooManyRequests, "there are \(options.uploadsPerUser) unfinished uploads already")
    }

    /// One is finished or gone.
    func countEnd(of owner: String?) {
        counts.withLock { counts in
            let left = (counts[owner] ?? 1) - 1
            counts[owner] = left > 0 ? left : nil
        }
    }

    /// Notes that the answer to one more upload is kept. A user has as many kept answers as unfinished
    /// uploads at most; the oldest makes room. It blocks.
    func noteAnswer(to id: UploadID, of owner: String?) {
        let oldest = answered.withLock { answered -> UploadID? in
            answered[owner, default: []].append(id)
            guard answered[owner, default: []].count > max(options.uploadsPerUser, 1) else {
                return nil
            }
            return answered[owner]?.removeFirst()
        }
        if let oldest { folder.remove(oldest) }
    }

    private func forgetAnswer(to id: UploadID, of owner: String?) {
        answered.withLock { answered in
            let left = (answered[owner] ?? []).filter { $0 != id }
            answered[owner] = left.isEmpty ? nil : left
        }
    }

    // MARK: Answers

    /// How long an upload may take, in seconds. A century at most: the sum with a time must not
    /// overflow.
    var seconds: Int64 { min(max(options.lifetime.components.seconds, 1), 100 * 366 * 86_400) }

    func answer(_ request: Request) async throws -> Response {
        let id = UploadID(of: request)
        guard let dialect = UploadDialect(of: request) else {
            return try await unknownVersion(request, id)
        }
        do {
            let versions = request.fields.values(of: .tusResumable)
            if dialect.isTus, versions.count != 1 || !versions[0].hasBytes(of: "1.0.0") {
                var problem = UploadProblem(.preconditionFailed, "tus 1.0.0 is spoken here")
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

    /// A draft that is not known. Its client may send all the content at once: it need not be
    /// resumable.
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
            var problem = UploadProblem(.methodNotAllowed, "that is no method of uploads")
            problem.fields[.allow] = Self.allowed
            throw problem
        }
    }

    private static let allowed = "HEAD, GET, PATCH, DELETE, OPTIONS"

    /// Has the handler answer a request that is none for an upload.
    func pass(_ request: Request) throws -> Answer {
        let answer = try handler.answer(request)
        guard request.method == .options else { return answer }
        return try answer.map { [self] response in
            var response = response
            if response.status.isSuccess { tellLimits(request, &response.fields) }
            return response
        }
    }

    /// Says in the answer to OPTIONS what is taken.
    func tellLimits(_ request: Request, _ fields: inout HTTPFields) {
        // The first drafts know no limits, and their clients do not look at them.
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
    /// - Throws: `UploadProblem` with 404 when there is none, when it is too old, when it is another
    ///   user's, or when it began at another mount of the handler.
    func record(_ id: UploadID, _ request: Request) async throws -> UploadRecord {
        let found = try await work { [folder] in try folder.record(id) }
        guard let found, found.expires > UploadFolder.now(),
            found.owner.hasBytes(of: request.identity?.name),
            found.mount == nil || found.mount == request.pathOfUploads
        else { throw UploadProblem.notFound }
        return found
    }

    /// How much of an upload has come.
    /// - Throws: `UploadProblem` with 404 when content is missing; then the client must begin again.
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

    /// Runs what blocks; a full disk is the error that becomes 507, a lack of descriptors or memory
    /// 503.
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
    /// - Throws: `UploadProblem` with 503 when the disk refuses it; then it still counts.
    func remove(_ id: UploadID, _ record: UploadRecord) async throws {
        guard try await work({ [folder] in folder.remove(id) }) else {
            throw UploadProblem(.serviceUnavailable, "the upload cannot be removed")
        }
        if record.answer == nil {
            countEnd(of: record.owner)
        } else {
            forgetAnswer(to: id, of: record.owner)
        }
    }

    /// Answers HEAD: how much has come.
    private func tell(
        _ request: Request, _ id: UploadID, _ dialect: UploadDialect
    ) async throws -> Response {
        try await requestQueue.run(id, ifAllowed: { _ = try await record(id, request) }) {
            let record = try await self.record(id, request)
            let offset = try await self.offset(id, record)
            // A client of tus takes a whole upload for done, and will not come back.
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

    /// The handler's refusal, once more, in place of an offset that a client of tus would take for
    /// success.
    private func refused(_ answer: KeptAnswer) -> Response {
        var response = completed(answer.response, .tus)
        response.fields[.cacheControl] = "no-store"
        return response
    }

    /// Completes an upload whose content has come whole before the process ended, or when the
    /// handler could not take it.
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

    /// Adds what is known of an upload.
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
