internal import HTTPCodecs
internal import HTTPParser

extension ClientRequest {
    /// The request with the fields that the session adds.
    func filled(
        from configuration: ClientConfiguration, isDownload: Bool
    ) -> ClientRequest {
        var request = self
        for field in configuration.additionalFields where !fields.contains(field.name) {
            request.fields.append(field)
        }
        if let agent = configuration.userAgent, !request.fields.contains(.userAgent) {
            request.fields.append(.userAgent, agent)
        }
        if let mediaType = body.mediaType, !request.fields.contains(.contentType) {
            request.fields.append(.contentType, mediaType)
        }
        // A download is not decoded: lengths and ranges count the bytes as sent.
        if isDownload {
            if !request.fields.contains(.acceptEncoding) {
                request.fields.append(.acceptEncoding, "identity")
            }
        } else if decodesContent ?? configuration.decodesContent,
            !request.fields.contains(.acceptEncoding), !request.fields.contains(.range)
        {
            request.fields.append(.acceptEncoding, TakenCoding.accepted)
        }
        // libcurl frames the content.
        if request.fields.contains(.contentLength) { request.fields.remove(.contentLength) }
        if request.fields.contains(.transferEncoding) { request.fields.remove(.transferEncoding) }
        return request
    }

    /// The request with the session's fields; nil if it has own fields or content.
    func filled(isDownload: Bool, _ usual: DefaultFields) -> ClientRequest? {
        guard fields.isEmpty, body.isNone else { return nil }
        var request = self
        request.fields = usual.fields(
            isDownload: isDownload, decodes: decodesContent ?? usual.decodesContent)
        return request
    }

    /// The error for a field value that must not be sent; nil if all values are allowed.
    var invalidField: ClientError? {
        for field in fields {
            guard Self.isAllowed(field.value) else {
                return ClientError(.badRequest, "a control character in \(field.name)")
            }
        }
        return nil
    }

    /// Whether all bytes of a field value are allowed (RFC 9110 section 5.5): a line break would
    /// begin another field.
    static func isAllowed(_ value: String) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            unsafe bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        }
    }

    /// The request for the rest of a partial download.
    /// - Parameter policy: decides which fields the request keeps if the part came from another
    ///   origin, to which a redirect had led.
    func resuming(_ data: ResumeData, _ policy: RedirectPolicy) -> ClientRequest {
        let own = askingForRest(of: data)
        var request = own
        request.url = data.url
        guard let old = own.origin, let new = request.origin, old != new else { return request }
        // The policy refuses a redirect from https to http, so the original URL is requested.
        if old.isSecure, !new.isSecure, !policy.allowsDowngrade { return own }
        RedirectFields.leave(old, for: new, &request.fields, policy)
        request.credential = nil
        if !new.isUpgrade(of: old) { request.connectTo = nil }
        return request
    }

    /// The request for the rest, sent to its own URL with If-Range (RFC 9110 section 13.1.5). The
    /// usual rules for credentials apply to redirects from there.
    func askingForRest(of data: ResumeData) -> ClientRequest {
        var request = self
        request.fields[.range] = "bytes=\(data.offset)-"
        request.fields[.ifRange] = data.validator
        return request
    }
}

/// The fields of requests without own fields, made once for a session.
struct DefaultFields {
    private var download: HTTPFields
    private var decoded: HTTPFields
    private let plain: HTTPFields
    /// Whether content is decoded for requests that do not set `decodesContent`.
    let decodesContent: Bool

    init(_ configuration: ClientConfiguration) {
        var common = configuration.additionalFields
        if let agent = configuration.userAgent, !common.contains(.userAgent) {
            common.append(.userAgent, agent)
        }
        common.remove(.contentLength)
        common.remove(.transferEncoding)
        (download, decoded, plain) = (common, common, common)
        decodesContent = configuration.decodesContent
        guard !common.contains(.acceptEncoding) else { return }
        download.append(.acceptEncoding, "identity")
        guard !common.contains(.range) else { return }
        decoded.append(.acceptEncoding, TakenCoding.accepted)
    }

    func fields(isDownload: Bool, decodes: Bool) -> HTTPFields {
        isDownload ? download : decodes ? decoded : plain
    }
}

extension HTTPMethod {
    /// Whether content has no meaning in requests of this method (RFC 9110 sections 9.3.1, 9.3.2
    /// and 9.3.8).
    var givesContentNoMeaning: Bool { self == .get || self == .head || self == .trace }
}
