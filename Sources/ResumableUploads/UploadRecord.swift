internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The record of an upload, stored beside its content.
struct UploadRecord: Codable, Sendable {
    /// The user who began the upload; `nil` without a login.
    var owner: String?
    /// The first request, as the handler will get it.
    var method: String
    var target: String
    var fields: [[String]]
    /// The mount path of the first request; `nil` in the records of earlier versions.
    var mount: String?
    /// The length of the whole upload in bytes; `nil` until it is known.
    var length: Int64?
    /// When the upload and its answer expire, in seconds since 1970.
    var expires: Int64
    /// Upload-Metadata of tus, which HEAD returns.
    var metadata: String?
    var answer: KeptAnswer?

    /// Credentials are taken from the request that completes the upload, and are never written to
    /// the disk. The same holds for tokens against forged requests: they belong to cookies, and may
    /// expire during the upload.
    private static let credentials: [HTTPFieldName] = [
        .authorization, .proxyAuthorization, .cookie, "X-Upload-Token", "X-CSRF-Token",
    ]

    /// The fields that are not stored: credentials, and fields that concern only one message or the
    /// protocols of uploads.
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
    ///   - length: the length of the content in bytes; `nil` if it is not known.
    ///   - body: the whole content.
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
    /// The longest content that is kept, in bytes.
    private static let byteLimit = 64 << 10
    private static let credentials: [HTTPFieldName] = [
        .setCookie, "Authentication-Info", "Proxy-Authentication-Info",
    ]

    var status: Int
    var fields: [[String]]
    var mediaType: String
    /// The content in base64.
    var content: String
    /// The length of the upload in bytes.
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
        // Credentials are for the client of this request. Sent again later, they would replace
        // newer credentials.
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

    /// Removes the fields that describe content which is not sent: a client would apply the coding
    /// or the hash to empty content.
    mutating func removeFactsOfContent() {
        for name in Self.factsOfContent where contains(name) { remove(name) }
    }
}
