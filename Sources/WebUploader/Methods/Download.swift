internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import WebDAVKit

extension UploaderSite {
    /// `GET download`: a file, to be saved. Nothing of it acts in the name of this server.
    func download(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayDownload)
        guard let bytes = call.parameter("path") else {
            throw UploaderError(.badRequest, .field, "path is missing")
        }
        let path = try await files.resolved(try UploaderCall.path(bytes))
        let operation = UploaderOperation.download(path)
        do {
            try await require(operation, call)
            let response = try await content(path, call)
            if call.request.method == .get, response.status != .notModified {
                tellDownload(path, call)
            }
            return response
        } catch {
            let status = UploaderError(thrown: error, for: nil)?.status ?? .requestTimeout
            await options.onEvent?(
                UploaderEvent(operation: operation, failure: status, request: call.request))
            throw error
        }
    }

    private func content(_ path: ResourcePath, _ call: UploaderCall) async throws -> Response {
        guard try await !files.info(path).isCollection else {
            throw UploaderError(.conflict, .path, "it is a folder")
        }
        let (info, body) = try await files.store.read(path)
        let name = String(decoding: path.name, as: UTF8.self)
        var response = Response(
            .ok,
            fields: [
                .cacheControl: "private, no-cache",
                .contentDisposition: ContentDisposition.attachment(fileName: name).description,
                .contentSecurityPolicy: "default-src 'none'; sandbox",
                .xContentTypeOptions: "nosniff",
            ], body: body)
        response.body.mediaType = MediaTypeTable.standard.contentType(ofFile: path.name)
        response.entityTag = info.entityTag
        response.lastModified = info.modified.httpDate
        return try response.conditional(for: call.request)
    }

    /// Tells it once all was sent, or will not be.
    private func tellDownload(_ path: ResourcePath, _ call: UploaderCall) {
        guard let told = options.onEvent else { return }
        call.request.whenAnswered { request, failure in
            let status: HTTPStatus? = failure == nil ? nil : .requestTimeout
            Task {
                await told(
                    UploaderEvent(operation: .download(path), failure: status, request: request))
            }
        }
    }
}
