internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

extension WebDAVHandler {
    /// GET and HEAD (RFC 4918 section 9.4): a file with conditions and ranges, a collection as a
    /// page.
    func get(_ call: WebDAVCall) async throws -> Response {
        guard let info = try await visibleInfo(call.path) else {
            if isProbe(call.path) { return Response(.ok, body: .bytes([])) }
            throw WebDAVError.notFound
        }
        guard try await isIfTrue(call, info) else { throw WebDAVError(.preconditionFailed) }
        guard !info.isCollection else { return try await listing(call) }
        guard !call.namesCollection else { throw WebDAVError.notFound }
        try await require(.download(call.path), call)
        let (current, body) = try await store.read(call.path)
        let mediaType = mediaType(of: call.path, current)
        var response = Response(.ok, fields: [.cacheControl: "no-cache"], body: body)
        response.body.mediaType = mediaType
        response.entityTag = current.entityTag
        response.lastModified = current.modified.httpDate
        response.fields.append(.xContentTypeOptions, "nosniff")
        if let language = current.language { response.fields.append(.contentLanguage, language) }
        describe(current.content.checksums, in: &response, for: call)
        // Uploaded content must not run scripts with the origin of this server.
        if isActive(mediaType, isKept: current.content.mediaType != nil) {
            response.fields.append(.contentSecurityPolicy, "sandbox")
        }
        let answer = try response.conditional(for: call.request)
        if call.request.method == .get, answer.status != .notModified {
            tellDownload(call)
        }
        return answer
    }

    /// Sends the checksums that came with the content. ownCloud's clients check each download by
    /// their own checksum and always get it; other checksums are sent on request (RFC 9530 section
    /// 4), because they prevent content coding.
    private func describe(
        _ checksums: [ContentChecksum], in response: inout Response, for call: WebDAVCall
    ) {
        guard !checksums.isEmpty else { return }
        if let best = checksums.ownCloudTexts.first {
            response.fields.append(.ownCloudChecksum, best)
        }
        guard let list = call.request.fields.list(.wantReprDigest), list.utf8.count <= 1024,
            let wanted = FieldValues.list(list)
        else { return }
        if let digest = checksums.representationDigest(wanted: wanted) {
            response.fields.append(.reprDigest, digest)
        }
    }

    /// Reports the download once all of it was sent; an interrupted download is not reported.
    private func tellDownload(_ call: WebDAVCall) {
        guard let told = options.didPerform else { return }
        call.request.whenAnswered { [path = call.path] request, failure in
            guard failure == nil else { return }
            Task { await told(.download(path), request) }
        }
    }

    func mediaType(of path: ResourcePath, _ info: ResourceInfo) -> String {
        info.content.mediaType
            ?? options.mediaTypes.contentType(ofFile: path.name)
    }

    /// Whether content of a media type may run scripts.
    /// - Parameter isKept: whether a client chose the type, which can be any type then.
    private func isActive(_ mediaType: String, isKept: Bool) -> Bool {
        if isKept { return !KeptMediaType.isInert(mediaType) }
        return mediaType.hasPrefix("text/html") || mediaType.hasPrefix("image/svg")
            || mediaType.contains("xml")
    }

    /// Whether a path is a file that keeps Spotlight from indexing, and Finder from making
    /// thumbnails.
    func isProbe(_ path: ResourcePath) -> Bool {
        options.discouragesIndexing
            && (path.bytes == Array(".metadata_never_index".utf8)
                || path.bytes == Array(".ql_disablethumbnails".utf8))
    }

    /// The description of such a file, which is empty.
    func probe(_ path: ResourcePath) -> ResourceInfo? {
        guard isProbe(path) else { return nil }
        return ResourceInfo(
            isCollection: false, modified: InternetTimestamp(secondsSinceEpoch: 0))
    }

    private func listing(_ call: WebDAVCall) async throws -> Response {
        // Without the slash, links on the page would be resolved against the parent. HEAD
        // redirects, too (RFC 9110 section 9.3.2): lftp finds out by it whether a path is a folder.
        guard call.namesCollection else {
            return .redirect(to: call.mount.href(call.path, isCollection: true), .movedPermanently)
        }
        guard options.listsCollections else { return Response(.ok, body: .text("")) }
        var entries: [DirectoryEntry] = []
        let members = try await store.members(of: call.path, withProperties: false)
        while let batch = try await members.next() {
            for member in batch {
                let path = call.path.appending(member.name)
                guard isVisible(path, isCollection: member.info.isCollection) else { continue }
                entries.append(
                    DirectoryEntry(
                        name: member.name, isDirectory: member.info.isCollection,
                        size: member.info.length, modified: member.info.modified.httpDate))
            }
        }
        let format = DirectoryListing.Format(accept: call.request.fields.list(.accept))
        let listing = DirectoryListing(
            path: call.path.segments, rootName: options.rootName, entries: entries)
        let fields: HTTPFields = [
            .vary: "Accept", .cacheControl: "no-cache", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: DirectoryListing.contentSecurityPolicy,
        ]
        return Response(.ok, fields: fields, body: listing.body(as: format))
    }
}
