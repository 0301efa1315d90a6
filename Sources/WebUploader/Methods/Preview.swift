internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

/// How a file is shown in the page.
enum PreviewKind: String {
    case image, video, audio, pdf, text

    /// Types that are safe to show. SVG is not among them, because it may contain scripts.
    private static let types: [String: PreviewKind] = [
        "image/png": .image, "image/jpeg": .image, "image/gif": .image, "image/webp": .image,
        "image/avif": .image, "image/apng": .image, "image/bmp": .image, "image/x-icon": .image,
        "image/vnd.microsoft.icon": .image, "video/mp4": .video, "video/webm": .video,
        "video/ogg": .video, "video/quicktime": .video, "video/x-m4v": .video,
        "audio/mpeg": .audio, "audio/mp4": .audio, "audio/aac": .audio, "audio/ogg": .audio,
        "audio/opus": .audio, "audio/webm": .audio, "audio/wav": .audio, "audio/x-wav": .audio,
        "audio/vnd.wave": .audio, "audio/flac": .audio, "audio/x-flac": .audio,
        "audio/x-m4a": .audio, "application/pdf": .pdf, "application/json": .text,
        "application/xml": .text, "application/yaml": .text, "application/x-yaml": .text,
        "application/toml": .text, "application/javascript": .text, "application/x-sh": .text,
        "application/sql": .text,
    ]

    /// - Parameter type: the value of Content-Type.
    init?(ofType type: String) {
        let essence = String(type.prefix { $0 != ";" })
        // Content of all text types is sent as `text/plain`.
        guard let kind = essence.hasPrefix("text/") ? PreviewKind.text : Self.types[essence] else {
            return nil
        }
        self = kind
    }

    /// The policy under which a browser shows the content, even in a separate window. A PDF gets no
    /// sandbox: browsers would not show it there, and their PDF readers are sandboxed anyway.
    var policy: String {
        self == .pdf
            ? "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; "
                + "frame-ancestors 'self'"
            : "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; "
                + "frame-ancestors 'self'; sandbox"
    }
}

extension UploaderSite {
    /// `GET preview`: a file to be shown, if its type is safe to show.
    func preview(_ call: UploaderCall) async throws -> Response {
        try call.require(call.role.mayDownload)
        guard let bytes = call.parameter("path") else {
            throw UploaderError(.badRequest, .field, "path is missing")
        }
        let path = try await files.resolved(try UploaderCall.path(bytes))
        return try await performDownload(of: [path], call) {
            try await shown(path).conditional(for: call.request)
        }
    }

    private func shown(_ path: ResourcePath) async throws -> Response {
        let type = MediaTypeTable.standard.contentType(ofFile: path.name)
        guard try await !files.info(path).isCollection, let kind = PreviewKind(ofType: type)
        else { throw UploaderError(.conflict, .preview, "files of this type have no preview") }
        let (info, body) = try await files.store.read(path)
        var response = Response(
            .ok,
            fields: [
                .cacheControl: "private, no-cache", .contentSecurityPolicy: kind.policy,
                .xContentTypeOptions: "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
            ], body: body)
        response.body.mediaType = kind == .text ? "text/plain; charset=utf-8" : type
        response.entityTag = info.entityTag
        response.lastModified = info.modified.httpDate
        return response
    }
}
