internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The record of an upload, stored beside its content.
struct UploadRecord: Codable, Sendable {
    /// The user who began it; `nil` without a login.
    var owner: String?
    /// The request that began it, as the handler is to see it.
    var method: String
    var target: String
    var fields: [[String]]
    /// Where the handler was mounted for that request; `nil` in the records of earlier versions.
    var mount: String?
    /// How many bytes it will have, once that is known.
    var length: Int64?
    /// When it is forgotten, in seconds since 1970.
    var expires: Int64
    /// Upload-Metadata of tus, which HEAD returns.
    var metadata: String?
    var answer: KeptAnswer?

    /// Credentials are those of the request that completes the upload; they are not written to the
    /// disk. Tokens against forged requests belong to cookies, and may be too old at the end.
    private static let credentials: [HTTPFieldName] = [
        .authorization, .proxyAuthorization, .cookie, "X-Upload-Token", "X-CSRF-Token",
    ]

    /// Fields of one message, or of the protocols of uploads: the handler sees none of them.
    private static let dropped: [HTTPFieldName] =
        credentials + [
            .contentLength, .transferEncoding, .connection, .expect, "TE", "Trailer", "Upgrade",
            "Keep-Alive", "Content-Digest", .uploadComplete, .uploadIncomplete, .uploadOffset,
            .uploadLength, .interopVersion, .tusResumable, .uploadDeferLength, .uploadMetadata,
            .methodOverride,
        ]

    init(_ request: Request, method: HTTPMethod, expires: Int64) {
        owner = request.identity?.name
        self.method = method.name
        target = request.target.text
        mount = request.mountPath
        fields = request.fields.compactMap { field in
            Self.dropped.contains(field.name) ? nil : [field.name.text, field.value]
        }
        self.expires = expires
    }

    /// The request that the handler gets.
    /// - Parameters:
    ///   - request: the request that has brought the last of the content.
    ///   - length: how long the content is, if that is known.
    ///   - body: all of the content.
    func request(
        inPlaceOf request: Request, length: Int64?, body: RequestBody
    ) throws(HTTPError) -> Request {
        var all = HTTPFields()
        for pair in fields {
            guard pair.count == 2, let name = HTTPFieldName(pair[0]) else { continue }
            all.append(name, pair[1])
        }
        for name in Self.credentials {
            for value in request.fields.values(of: name) { all.append(name, value) }
        }
        guard let method = HTTPMethod(method),
            let whole = request.standIn(method, target, fields: all, length: length, body: body)
        else { throw HTTPError(.internalServerError) }
        var placed = whole
        if let mount { placed.mountDepth = mount.utf8.count { $0 == 0x2F } }
        return placed
    }
}

/// The answer of the handler, kept in case the client missed it.
struct KeptAnswer: Codable, Sendable {
    /// Content up to this length is kept.
    private static let byteLimit = 64 << 10
    private static let credentials: [HTTPFieldName] = [
        .setCookie, "Authentication-Info", "Proxy-Authentication-Info",
    ]

    var status: Int
    var fields: [[String]]
    var mediaType: String
    /// In base64.
    var content: String
    /// How many bytes the upload had.
    var length: Int64

    init(_ response: Response, length: Int64) {
        status = Int(response.status.code)
        var bytes: [UInt8] = []
        var hasAll = true
        switch response.body.content {
        case .empty: break
        case .text(let text): bytes = Array(text.utf8)
        case .bytes(let all): bytes = all
        default: hasAll = false
        }
        if bytes.count > Self.byteLimit { (bytes, hasAll) = ([], false) }
        var kept = response.fields
        // They are for the client of this request, and would replace newer ones later.
        for name in Self.credentials where kept.contains(name) { kept.remove(name) }
        if !hasAll { kept.removeFactsOfContent() }
        fields = kept.map { [$0.name.text, $0.value] }
        mediaType = bytes.isEmpty ? "" : response.body.mediaType
        content = Base64.text(of: bytes)
        self.length = length
    }

    var response: Response {
        var response = Response(HTTPStatus(status) ?? .ok)
        for pair in fields {
            guard pair.count == 2, let name = HTTPFieldName(pair[0]) else { continue }
            response.fields.append(name, pair[1])
        }
        if let bytes = Base64.decode(Array(content.utf8)), !bytes.isEmpty {
            response.body = .bytes(bytes, mediaType: mediaType)
        }
        return response
    }
}

extension HTTPFields {
    private static let factsOfContent: [HTTPFieldName] = [
        .contentEncoding, "Content-Digest", "Content-MD5", "Digest", "Repr-Digest",
    ]

    /// Takes away what is said of content that is not sent: a client would look for the coding, or
    /// the hash, in no bytes at all.
    mutating func removeFactsOfContent() {
        for name in Self.factsOfContent where contains(name) { remove(name) }
    }
}
