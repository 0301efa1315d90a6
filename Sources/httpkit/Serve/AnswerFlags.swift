import ArgumentParser
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
import WebDAVKit

/// Fields of all answers of `serve`.
struct AnswerFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A field for all answers, which replaces their own; can be given several times.",
            valueName: "name: value"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "Let pages of ORIGIN read answers (CORS); can be given several times, or without ORIGIN.",
            discussion: """
                Without ORIGIN, pages of any site may read answers that need no login. Pages of an \
                ORIGIN such as https://app.example.org may use logins, and change files if \
                --webdav or --uploader allows it.
                """, valueName: "origin"))
    var cors: [String] = []

    /// The fields that decide where an answer ends and whether its connection persists.
    private static let ownFields: Set<HTTPFieldName> = [
        .contentLength, .transferEncoding, .connection, "Keep-Alive", "Upgrade", "TE", .trailer,
    ]

    func validate() throws {
        for field in try fields where Self.ownFields.contains(field.name) {
            throw ValidationError("--header: \(field.name) is the server's own field")
        }
        for origin in cors where origin != "*" && !WebDAVOptions.isOrigin(origin) {
            throw ValidationError(
                "--cors takes a scheme and a host, such as https://app.example.org; "
                    + "got \(origin)")
        }
    }

    private var fields: [FieldArgument] {
        get throws { try header.map { try FieldArgument($0, of: "--header") } }
    }

    /// The named origins; empty if all origins are allowed.
    var origins: Set<String> {
        guard !cors.contains("*") else { return [] }
        // The Origin field has lower-case names and no final slash.
        return Set(cors.map { ($0.hasSuffix("/") ? String($0.dropLast()) : $0).lowercased() })
    }

    /// The handler with these fields.
    /// - Parameters:
    ///   - handler: the inner handler.
    ///   - changesFiles: whether requests may change files.
    ///   - hasLogin: whether there are users.
    func handler(
        _ handler: any Handler, changesFiles: Bool, hasLogin: Bool
    ) throws -> any Handler {
        var handler = handler
        if !cors.isEmpty { handler = shared(handler, changesFiles, hasLogin) }
        let fields = try fields
        guard !fields.isEmpty else { return handler }
        return InterceptingHandler(
            handler,
            after: { _, response in
                for field in fields { response.fields.remove(field.name) }
                for field in fields { response.fields.append(field.name, field.value) }
            })
    }

    private func shared(
        _ handler: any Handler, _ changesFiles: Bool, _ hasLogin: Bool
    ) -> any Handler {
        var options = CORSHandler.Options()
        options.methods = [.get, .head, .post]
        if origins.isEmpty {
            // A page of any site could change files through its visitors' browsers.
            if changesFiles {
                options.methods = [.get, .head]
                options.requestFields = [.range, .ifRange]
            }
        } else {
            options.origins = .listed(origins)
            options.allowsCredentials = hasLogin
            if changesFiles { options.methods.formUnion(Self.changingMethods) }
        }
        return CORSHandler(handler, options: options)
    }

    private static let changingMethods: [HTTPMethod] = [
        .put, .patch, .delete, .propfind, .proppatch, .mkcol, .copy, .move, .lock, .unlock,
    ]
}
