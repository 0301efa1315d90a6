internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Style and scripts of the page. They are part of the program, so that it needs no further files.
/// Their addresses contain a hash of them all, so that browsers may cache them for ever.
enum UploaderAssets {
    private static let texts = [
        "page.css": PageStyle.css, "page.js": PageScript.page, "api.js": PageScript.api,
        "list.js": PageScript.list, "transfers.js": PageScript.transfers,
        "drops.js": PageScript.drops, "preview.js": PageScript.preview,
        "delete.js": PageScript.delete, "resume.js": PageScript.resume,
        "kept.js": PageScript.kept, "ask.js": PageScript.ask,
    ]

    private static let hash: String = {
        let all = texts.sorted { $0.key < $1.key }.map(\.value).joined()
        return String(EntityTag(of: Array(all.utf8)).description.dropFirst().prefix(12))
    }()

    /// The folder of the addresses, relative to the page.
    static let folder = "assets/\(hash)/"

    /// The names and contents; tests use them.
    static var all: [String: String] { texts }

    private static let handlers: [String: ContentHandler] = {
        var options = ContentHandler.Options()
        options.cacheAge = nil
        return texts.reduce(into: [:]) { handlers, text in
            let type = MediaType(
                text.key.hasSuffix(".css")
                    ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8")
            handlers[folder + text.key] = ContentHandler(
                text.value, mediaType: type ?? .plainText, options: options)
        }
    }()

    static func answer(_ name: String, _ request: Request) throws -> Response {
        guard let handler = handlers[name] else { throw UploaderError(.notFound, nil) }
        var response = try handler.response(to: request)
        response.fields.append(.cacheControl, "public, max-age=31536000, immutable")
        return response
    }
}
