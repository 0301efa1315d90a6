internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import WebDAVKit

extension UploaderSite {
    /// `GET` of the mount point: the page of a folder.
    func page(_ call: UploaderCall) async throws -> Response {
        var folder = ResourcePath.root
        var listed: Listed?
        if call.role.mayList {
            folder = try UploaderCall.path(call.parameter("path") ?? [])
            let offset =
                call.parameter("offset")
                .flatMap { $0.count <= 9 ? Int(String(decoding: $0, as: UTF8.self)) : nil } ?? 0
            listed = try await self.listed(
                folder, offset: max(0, offset), limit: Self.pageLimit, call)
        }
        let (token, cookie) = tokens.token(for: call.request)
        return response(
            PageWriter.page(folder, listed, call, options, token: token), cookie)
    }

    /// The page that asks a browser without script for confirmation of a deletion.
    func confirmation(_ paths: [ResourcePath], _ call: UploaderCall) -> Response {
        let (token, cookie) = tokens.token(for: call.request)
        return response(
            PageWriter.confirmation(paths, PageTexts(for: call.request), token: token), cookie)
    }

    private func response(_ page: [UInt8], _ cookie: String?) -> Response {
        var response = Response(
            .ok,
            fields: [
                .cacheControl: "no-store", .contentSecurityPolicy: PageWriter.policy,
                .xContentTypeOptions: "nosniff", "Referrer-Policy": "same-origin",
                "X-Frame-Options": "DENY",
            ], body: .bytes(page, mediaType: "text/html; charset=utf-8"))
        response.fields.append(.vary, "Accept-Language, Cookie")
        if let cookie { response.fields.append(.setCookie, cookie) }
        return response
    }
}
