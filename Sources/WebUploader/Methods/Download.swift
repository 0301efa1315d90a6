internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

extension UploaderSite {
    /// `GET download`: a file to be saved, or an archive of a folder or of several paths. Browsers
    /// never run the content in this server's origin. A selection that is too long for a query is
    /// sent by POST.
    func download(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayDownload)
        var fields = FormFields(call.request.query)
        if call.request.method == .post {
            fields = try await FormFields.read(call.request)
            try requireToken(call, fields)
        }
        var paths: [ResourcePath] = []
        for bytes in fields.values(of: "path") {
            paths.append(try await files.resolved(try UploaderCall.path(bytes)))
        }
        guard let first = paths.first else {
            throw UploaderError(.badRequest, .field, "path is missing")
        }
        return try await performDownload(of: paths, call) {
            var isArchive = paths.count > 1
            if !isArchive { isArchive = try await files.info(first).isCollection }
            return try await isArchive
                ? archive(of: paths, call) : content(first, call).conditional(for: call.request)
        }
    }

    /// Runs a download and reports its result to the program: a success once the answer was sent.
    /// - Parameters:
    ///   - paths: the downloaded or shown files and folders, at least one.
    ///   - body: makes the answer.
    @inline(never)  // Each caller would have a copy of it.
    func performDownload(
        of paths: [ResourcePath], _ call: UploaderCall, _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            for path in paths { try await require(.download(path), call) }
            let response = try await body()
            if call.request.method != .head, response.status != .notModified {
                tellDownload(paths, response.status, call)
            }
            return response
        } catch {
            let status = UploaderError(thrown: error, for: nil)?.status ?? .requestTimeout
            await options.onEvent?(
                UploaderEvent(
                    operation: .download(paths[0]), failure: status, request: call.request))
            throw error
        }
    }

    private func content(_ path: ResourcePath, _ call: UploaderCall) async throws -> Response {
        let (info, body) = try await files.store.read(path)
        let name = String(decoding: path.name, as: UTF8.self)
        var response = Response(.ok, fields: Self.attachment(name), body: body)
        response.body.mediaType = MediaTypeTable.standard.contentType(ofFile: path.name)
        response.entityTag = info.entityTag
        response.lastModified = info.modified.httpDate
        return response
    }

    /// The fields of content that browsers save and do not show.
    static func attachment(_ name: String) -> HTTPFields {
        [
            .cacheControl: "private, no-cache",
            .contentDisposition: ContentDisposition.attachment(fileName: name).description,
            .contentSecurityPolicy: "default-src 'none'; sandbox",
            .xContentTypeOptions: "nosniff",
        ]
    }

    /// Reports the download once it has ended.
    private func tellDownload(
        _ paths: [ResourcePath], _ answered: HTTPStatus, _ call: UploaderCall
    ) {
        guard let told = options.onEvent else { return }
        // Other answers, such as 416, are not downloads.
        let refusal: HTTPStatus? = answered.isSuccess ? nil : answered
        call.request.whenAnswered { request, failure in
            let interruption: HTTPStatus? = failure == nil ? nil : .requestTimeout
            let status = refusal ?? interruption
            Task {
                for path in paths {
                    await told(
                        UploaderEvent(
                            operation: .download(path), failure: status, request: request))
                }
            }
        }
    }
}
