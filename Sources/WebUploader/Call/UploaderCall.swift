internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import WebDAVKit

/// A request and the role of its user.
struct UploaderCall: Sendable {
    let request: Request
    let role: UploaderRole
    /// Whether the answer is a page, because the browser runs no script.
    let wantsPage: Bool

    init(_ request: Request, _ role: UploaderRole) {
        (self.request, self.role) = (request, role)
        wantsPage = Self.prefersPage(request)
    }

    /// Whether a client prefers a page to JSON. Programs that accept any media type get JSON.
    static func prefersPage(_ request: Request) -> Bool {
        request.acceptedMediaTypes?.best(of: [.json, .html]) == .html
    }

    func require(_ isAllowed: Bool) throws(UploaderError) {
        guard isAllowed else {
            throw UploaderError(.forbidden, .role, "the user's role does not allow this")
        }
    }

    /// The value of the first parameter of the query with a name, byte by byte: names of files need
    /// not be UTF-8.
    func parameter(_ name: String) -> [UInt8]? { FormFields(request.query)[name] }

    /// The path in a value of a query or a form.
    static func path(_ bytes: [UInt8]) throws(UploaderError) -> ResourcePath {
        let names = bytes.split(separator: 0x2F).map { Array($0) }
        // `.` and `..` are refused: their only use would be to leave the folder.
        guard names.count <= 256, let path = ResourcePath(segments: names) else {
            throw UploaderError(.badRequest, .path, "malformed path")
        }
        return path
    }

    /// The action when a name is taken.
    /// - Parameter mayRefuse: whether `refuse` may be chosen even where clients may not choose.
    func conflict(
        _ text: [UInt8]?, _ options: UploaderOptions, mayRefuse: Bool = false
    ) throws(UploaderError) -> NameConflict {
        guard let text, !text.isEmpty else { return safe(options.conflict) }
        // To compare a long text as a string may take minutes.
        guard text.count <= 16,
            let conflict = NameConflict(rawValue: String(decoding: text, as: UTF8.self))
        else {
            throw UploaderError(
                .badRequest, .field, "expected conflict to be keep, replace, refuse or ask")
        }
        guard
            options.letsClientsChoose || conflict == options.conflict
                || mayRefuse && conflict == .refuse
        else {
            throw UploaderError(.forbidden, .field, "clients may not choose conflict")
        }
        if role == .uploadOnly, conflict == .replace { try require(false) }
        return conflict
    }

    /// A user who can only add must not replace the files of others.
    private func safe(_ conflict: NameConflict) -> NameConflict {
        role == .uploadOnly && conflict == .replace ? .keepBoth : conflict
    }
}

/// The fields of a form without files, or of a query.
struct FormFields: Sendable {
    /// The most bytes of all fields.
    static let byteLimit = 1 << 20

    private(set) var all: [(name: String, value: [UInt8])] = []

    init() {}

    init(_ form: FormURLEncoded) {
        for position in form.indices {
            append(
                String(decoding: form.nameBytes(at: position), as: UTF8.self),
                Array(form.valueBytes(at: position)))
        }
    }

    /// Reads the content of a request: `application/x-www-form-urlencoded`, or
    /// `multipart/form-data` without files.
    static func read(_ request: Request) async throws -> FormFields {
        guard request.mediaType?.essence == "multipart/form-data" else {
            var options = FormURLEncoded.Options.standard
            options.byteLimit = byteLimit
            return FormFields(try await request.urlEncodedForm(options: options))
        }
        var limits = MultipartLimits.standard
        limits.totalBytes = Int64(byteLimit)
        var fields = FormFields()
        for try await part in try request.multipart(limits: limits) {
            guard !part.isFile else {
                throw UploaderError(.badRequest, .field, "this form must not contain files")
            }
            fields.append(part.name ?? "", try await part.collect())
        }
        return fields
    }

    /// Adds a field. `link` is a percent-encoded path from a list or page, so that a form can send
    /// names that are not UTF-8. It is added as `path`.
    mutating func append(_ name: String, _ value: [UInt8]) {
        guard name.hasBytes(of: "link") else { return all.append((name, value)) }
        var path: [UInt8] = []
        // A malformed link becomes a path that is refused.
        let isRead = PercentEncoding.decode(value.span, keepsInvalid: false, into: &path) == nil
        all.append(("path", isRead ? path : [0]))
    }

    subscript(name: String) -> [UInt8]? { all.first { $0.name.hasBytes(of: name) }?.value }

    func values(of name: String) -> [[UInt8]] {
        all.filter { $0.name.hasBytes(of: name) }.map(\.value)
    }

    func text(_ name: String) -> String? { self[name].map { String(decoding: $0, as: UTF8.self) } }
}

extension UploaderSite {
    /// Refuses a request that a page of another site may have sent.
    /// - Parameter fields: the fields of the form, one of which may be the token.
    func requireToken(_ call: UploaderCall, _ fields: FormFields) throws(UploaderError) {
        let request = call.request
        guard options.requiresToken || UploaderTokens.isFromBrowser(request) else { return }
        let token = request.fields[UploaderTokens.field] ?? fields.text("token") ?? ""
        guard tokens.accepts(token, from: request) else {
            request.isRefusedForCredentials = true
            throw UploaderError(
                .forbidden, .token, "the token is missing, expired or from another browser")
        }
    }

    /// `GET token`: a new token for a page whose token has expired.
    func token(_ call: UploaderCall) throws -> Response {
        struct Answer: Encodable { var token: String }
        let (token, cookie) = tokens.token(for: call.request)
        var response = try Response.json(Answer(token: token))
        response.fields.append(.cacheControl, "no-store")
        if let cookie { response.fields.append(.setCookie, cookie) }
        return response
    }
}
