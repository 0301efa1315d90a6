internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

extension WebDAVHandler {
    /// PATCH with a part of a file (RFC 5789), in the form of SabreDAV. The change is atomic: it is
    /// made in a copy, which then replaces the file.
    func patch(_ call: WebDAVCall) async throws -> Response {
        let path = call.path
        guard !path.isRoot, !call.namesCollection else {
            throw WebDAVError(.methodNotAllowed, "PATCH cannot change a collection")
        }
        try requireVisible(path, isCollection: false)
        let before = try await visibleInfo(path)
        try requireFile(before)
        let update = try partialUpdate(call)
        guard let announced = call.request.contentLength else {
            throw WebDAVError(.lengthRequired, "PATCH requires Content-Length")
        }
        _ = try await require(update, of: announced, in: before, call)
        try await require(.upload(path), call)
        let content = try await store.stage(
            call.request.body, for: path, expected: announced)
        let info = try await change([path], call) {
            let (old, offset) = try await require(
                update, of: announced, in: try await visibleInfo(path), call)
            let whole = try await store.splice(content, into: path, at: offset)
            // The description stays valid, except for the checksums.
            whole.contentDescription = try await store.details(of: path).content
            whole.contentDescription.checksums = []
            return try await store.place(whole, at: path, modified: nil) { info in
                // Another program may have written to the file while it was copied.
                guard info?.entityTag == old.entityTag else {
                    throw WebDAVError(
                        .conflict, "another program changed the file; send the request again")
                }
            }.info
        }
        await tell(.upload(path), call)
        var response = Response(.noContent)
        response.entityTag = info.entityTag
        return response
    }

    @discardableResult
    private func requireFile(_ info: ResourceInfo?) throws(WebDAVError) -> ResourceInfo {
        guard let info else { throw WebDAVError.notFound }
        guard !info.isCollection else {
            throw WebDAVError(.methodNotAllowed, "PATCH cannot change a collection")
        }
        return info
    }

    private func partialUpdate(_ call: WebDAVCall) throws -> PartialUpdate {
        let fields = call.request.fields
        let type = fields[.contentType].flatMap { $0.utf8.count <= 255 ? MediaType($0) : nil }
        guard type?.essence == PartialUpdate.mediaType, !fields.contains(.contentEncoding) else {
            // RFC 5789 section 2.2.
            throw HTTPError(
                .unsupportedMediaType, "PATCH requires \(PartialUpdate.mediaType)",
                fields: [.acceptPatch: PartialUpdate.mediaType])
        }
        guard let field = fields[.updateRange], let update = PartialUpdate(field) else {
            throw WebDAVError(
                .badRequest, "X-Update-Range must be append, bytes=A-B, bytes=A- or bytes=-N")
        }
        return update
    }

    /// Checks the conditions, the locks, the range and the limit of the length.
    private func require(
        _ update: PartialUpdate, of count: Int64, in info: ResourceInfo?, _ call: WebDAVCall
    ) async throws -> (info: ResourceInfo, offset: Int64) {
        let info = try requireFile(info)
        try await requireConditions(call, info)
        try await requireUnlocked(call.path, andMembership: false, call)
        guard let offset = update.offset(of: count, in: info.length) else {
            throw HTTPError(
                .rangeNotSatisfiable,
                "the range must have the content's length, and begin in the file or at its end",
                fields: [.contentRange: "bytes */\(info.length)"])
        }
        let (end, isTooFar) = offset.addingReportingOverflow(count)
        let limit = min(options.partialUpdateLimit, options.contentLimit)
        guard !isTooFar, max(end, info.length) <= limit else {
            throw WebDAVError(
                .contentTooLarge, "PATCH accepts files of up to \(limit) bytes")
        }
        return (info, offset)
    }
}
