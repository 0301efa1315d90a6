internal import HTTPParser
internal import HTTPServerCore
internal import ToolkitSystem

/// The response for a file that was found.
extension FileHandler {
    func serve(
        _ file: OpenFile, _ status: FileStatus, _ path: FilePath, _ root: RootDirectory,
        _ request: Request
    ) throws(HTTPError) -> Response {
        let mediaType = mediaType(of: path)
        let varies = options.servesPrecompressed && compressible.contains(mediaType)
        if varies, AcceptedCoding(request).isGzip {
            var found = Representation(file: file, status: status, mediaType: mediaType)
            if let other = PrecompressedFile.find(beside: path, status, in: root) {
                found = Representation(file: other.file, status: other.status, mediaType: mediaType)
                found.isCoded = true
            }
            found.varies = true
            return try serve(found, request)
        }
        if let cache, let content = cache.content(of: file, status, at: path, in: root) {
            let validators = Validators(status)
            let entry = FileCache.Entry(
                status: status, content: content, mediaType: mediaType, validators: validators,
                varies: varies, fields: wholeFields(validators, varies), parents: path.parents)
            cache.keep(entry, at: path)
            return try serve(entry, request)
        }
        var found = Representation(file: file, status: status, mediaType: mediaType)
        found.varies = varies
        return try serve(found, request)
    }

    func serve(
        _ entry: FileCache.Entry, _ request: Request
    ) throws(HTTPError) -> Response {
        guard Preconditions(request) == nil else {
            return try serve(Representation(entry), request)
        }
        return Response(
            .ok, fields: entry.fields, body: entry.content.body(mediaType: entry.mediaType))
    }

    /// The representation of a file that is sent.
    struct Representation {
        let content: RangeSource
        let validators: Validators
        let mediaType: String
        var varies = false
        var isCoded = false

        init(file: OpenFile, status: FileStatus, mediaType: String) {
            content = .file(file, offset: 0, length: status.size)
            validators = Validators(status)
            self.mediaType = mediaType
        }

        init(_ entry: FileCache.Entry) {
            content = entry.content
            validators = entry.validators
            mediaType = entry.mediaType
            varies = entry.varies
        }
    }

    /// The fields that identify the file and control caches; answers without content have them,
    /// too.
    private func identifyingFields(_ validators: Validators) -> HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(8)
        fields.append(.eTag, validators.tagText)
        fields.append(.lastModified, validators.dateText)
        if let age = options.cacheAge {
            fields.append(.cacheControl, age > 0 ? "public, max-age=\(age)" : "no-cache")
        }
        return fields
    }

    private func wholeFields(_ validators: Validators, _ varies: Bool) -> HTTPFields {
        var fields = identifyingFields(validators)
        if varies { fields.append(.vary, "Accept-Encoding") }
        Self.addContentFields(to: &fields)
        fields.keepLinesAndFacts()
        return fields
    }

    private static func addContentFields(to fields: inout HTTPFields) {
        fields.append(.acceptRanges, "bytes")
        fields.append(.xContentTypeOptions, "nosniff")
    }

    func serve(
        _ found: Representation, _ request: Request
    ) throws(HTTPError) -> Response {
        let validators = found.validators
        var fields = identifyingFields(validators)
        if found.varies { fields.append(.vary, "Accept-Encoding") }
        var rangeAllowed = true
        if let conditions = Preconditions(request) {
            let now = HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds)
            let method: Preconditions.Method = request.knownMethod == .head ? .head : .get
            switch conditions.evaluate(method: method, current: validators.state, now: now) {
            case .notModified: return Response(.notModified, fields: fields)
            case .preconditionFailed:
                fields.removeFreshness()
                throw HTTPError(.preconditionFailed, fields: fields)
            case .proceed(let allowed):
                // The compressed file may have the same date, so a date does not identify one of
                // them (RFC 9110 section 8.8.1).
                rangeAllowed =
                    allowed && !(found.varies && VariantConditions.hasDatedRange(request))
            }
        }
        Self.addContentFields(to: &fields)
        // RFC 9110 section 14.2: Range is defined for GET only.
        if rangeAllowed, request.knownMethod == .get, let range = request.fields[.range] {
            let decision = RangeDecision(field: range, length: found.content.length)
            if let partial = self.partial(decision, found, fields) { return partial }
        }
        if found.isCoded { fields.append(.contentEncoding, "gzip") }
        return Response(.ok, fields: fields, body: found.content.body(mediaType: found.mediaType))
    }

    private func partial(
        _ decision: RangeDecision, _ found: Representation, _ fields: HTTPFields
    ) -> Response? {
        // No field can describe a multipart of coded parts, so send the whole file.
        if found.isCoded, case .several = decision { return nil }
        var partial = ContentRanges.response(decision, found.content, fields, found.mediaType)
        if found.isCoded, partial?.status == .partialContent {
            partial?.fields.append(.contentEncoding, "gzip")
        }
        return partial
    }
}
