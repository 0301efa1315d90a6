/// A response's status code, an open set of three digits (RFC 9110 section 15).
///
/// Every code that the IANA registry assigns permanently has a name here. Any other code from 100
/// to 999 is valid, too.
public struct HTTPStatus: Hashable, Sendable {
    /// The code, 100 to 999.
    public let code: UInt16

    @inlinable
    package init(unchecked code: UInt16) {
        self.code = code
    }

    /// Creates a status, or `nil` when `code` is not in 100...999.
    public init?(_ code: Int) {
        guard (100...999).contains(code) else { return nil }
        self.init(unchecked: UInt16(code))
    }

    /// The classes that the first digit names (RFC 9110 section 15).
    public enum Class: Sendable {
        /// 1xx: interim, the final response follows.
        case informational
        /// 2xx: received, understood, accepted.
        case successful
        /// 3xx: the client must take further action.
        case redirection
        /// 4xx: the request is at fault.
        case clientError
        /// 5xx: the server failed.
        case serverError
        /// 6xx to 9xx: outside the registry; treat as 5xx (RFC 9110 section 15).
        case invalid
    }

    /// The class of the code.
    public var `class`: Class {
        switch code / 100 {
        case 1: .informational
        case 2: .successful
        case 3: .redirection
        case 4: .clientError
        case 5: .serverError
        default: .invalid
        }
    }

    /// Whether the class is 2xx: the request was received, understood and accepted.
    @inlinable
    public var isSuccess: Bool { code / 100 == 2 }

    /// Whether a response with this status never has content, whatever its fields say: 1xx, 204
    /// and 304 (RFC 9112 section 6.3).
    @inlinable
    public var forbidsContent: Bool { code < 200 || code == 204 || code == 304 }
}

extension HTTPStatus: CustomStringConvertible {
    /// Code and reason phrase, such as `404 Not Found`.
    public var description: String { "\(code) \(reasonPhrase)" }
}

extension HTTPStatus {
    /// 100 Continue.
    @inlinable
    public static var `continue`: Self { Self(unchecked: 100) }
    /// 101 Switching Protocols.
    @inlinable
    public static var switchingProtocols: Self { Self(unchecked: 101) }
    /// 102 Processing.
    @inlinable
    public static var processing: Self { Self(unchecked: 102) }
    /// 103 Early Hints.
    @inlinable
    public static var earlyHints: Self { Self(unchecked: 103) }
    /// 200 OK.
    @inlinable
    public static var ok: Self { Self(unchecked: 200) }
    /// 201 Created.
    @inlinable
    public static var created: Self { Self(unchecked: 201) }
    /// 202 Accepted.
    @inlinable
    public static var accepted: Self { Self(unchecked: 202) }
    /// 203 Non-Authoritative Information.
    @inlinable
    public static var nonAuthoritativeInformation: Self { Self(unchecked: 203) }
    /// 204 No Content.
    @inlinable
    public static var noContent: Self { Self(unchecked: 204) }
    /// 205 Reset Content.
    @inlinable
    public static var resetContent: Self { Self(unchecked: 205) }
    /// 206 Partial Content.
    @inlinable
    public static var partialContent: Self { Self(unchecked: 206) }
    /// 207 Multi-Status.
    @inlinable
    public static var multiStatus: Self { Self(unchecked: 207) }
    /// 208 Already Reported.
    @inlinable
    public static var alreadyReported: Self { Self(unchecked: 208) }
    /// 226 IM Used.
    @inlinable
    public static var imUsed: Self { Self(unchecked: 226) }
    /// 300 Multiple Choices.
    @inlinable
    public static var multipleChoices: Self { Self(unchecked: 300) }
    /// 301 Moved Permanently.
    @inlinable
    public static var movedPermanently: Self { Self(unchecked: 301) }
    /// 302 Found.
    @inlinable
    public static var found: Self { Self(unchecked: 302) }
    /// 303 See Other.
    @inlinable
    public static var seeOther: Self { Self(unchecked: 303) }
    /// 304 Not Modified.
    @inlinable
    public static var notModified: Self { Self(unchecked: 304) }
    /// 305 Use Proxy.
    @inlinable
    public static var useProxy: Self { Self(unchecked: 305) }
    /// 307 Temporary Redirect.
    @inlinable
    public static var temporaryRedirect: Self { Self(unchecked: 307) }
    /// 308 Permanent Redirect.
    @inlinable
    public static var permanentRedirect: Self { Self(unchecked: 308) }
    /// 400 Bad Request.
    @inlinable
    public static var badRequest: Self { Self(unchecked: 400) }
    /// 401 Unauthorized.
    @inlinable
    public static var unauthorized: Self { Self(unchecked: 401) }
    /// 402 Payment Required.
    @inlinable
    public static var paymentRequired: Self { Self(unchecked: 402) }
    /// 403 Forbidden.
    @inlinable
    public static var forbidden: Self { Self(unchecked: 403) }
    /// 404 Not Found.
    @inlinable
    public static var notFound: Self { Self(unchecked: 404) }
    /// 405 Method Not Allowed.
    @inlinable
    public static var methodNotAllowed: Self { Self(unchecked: 405) }
    /// 406 Not Acceptable.
    @inlinable
    public static var notAcceptable: Self { Self(unchecked: 406) }
    /// 407 Proxy Authentication Required.
    @inlinable
    public static var proxyAuthenticationRequired: Self { Self(unchecked: 407) }
    /// 408 Request Timeout.
    @inlinable
    public static var requestTimeout: Self { Self(unchecked: 408) }
    /// 409 Conflict.
    @inlinable
    public static var conflict: Self { Self(unchecked: 409) }
    /// 410 Gone.
    @inlinable
    public static var gone: Self { Self(unchecked: 410) }
    /// 411 Length Required.
    @inlinable
    public static var lengthRequired: Self { Self(unchecked: 411) }
    /// 412 Precondition Failed.
    @inlinable
    public static var preconditionFailed: Self { Self(unchecked: 412) }
    /// 413 Content Too Large.
    @inlinable
    public static var contentTooLarge: Self { Self(unchecked: 413) }
    /// 414 URI Too Long.
    @inlinable
    public static var uriTooLong: Self { Self(unchecked: 414) }
    /// 415 Unsupported Media Type.
    @inlinable
    public static var unsupportedMediaType: Self { Self(unchecked: 415) }
    /// 416 Range Not Satisfiable.
    @inlinable
    public static var rangeNotSatisfiable: Self { Self(unchecked: 416) }
    /// 417 Expectation Failed.
    @inlinable
    public static var expectationFailed: Self { Self(unchecked: 417) }
    /// 421 Misdirected Request.
    @inlinable
    public static var misdirectedRequest: Self { Self(unchecked: 421) }
    /// 422 Unprocessable Content.
    @inlinable
    public static var unprocessableContent: Self { Self(unchecked: 422) }
    /// 423 Locked.
    @inlinable
    public static var locked: Self { Self(unchecked: 423) }
    /// 424 Failed Dependency.
    @inlinable
    public static var failedDependency: Self { Self(unchecked: 424) }
    /// 425 Too Early.
    @inlinable
    public static var tooEarly: Self { Self(unchecked: 425) }
    /// 426 Upgrade Required.
    @inlinable
    public static var upgradeRequired: Self { Self(unchecked: 426) }
    /// 428 Precondition Required.
    @inlinable
    public static var preconditionRequired: Self { Self(unchecked: 428) }
    /// 429 Too Many Requests.
    @inlinable
    public static var tooManyRequests: Self { Self(unchecked: 429) }
    /// 431 Request Header Fields Too Large.
    @inlinable
    public static var requestHeaderFieldsTooLarge: Self { Self(unchecked: 431) }
    /// 451 Unavailable For Legal Reasons.
    @inlinable
    public static var unavailableForLegalReasons: Self { Self(unchecked: 451) }
    /// 500 Internal Server Error.
    @inlinable
    public static var internalServerError: Self { Self(unchecked: 500) }
    /// 501 Not Implemented.
    @inlinable
    public static var notImplemented: Self { Self(unchecked: 501) }
    /// 502 Bad Gateway.
    @inlinable
    public static var badGateway: Self { Self(unchecked: 502) }
    /// 503 Service Unavailable.
    @inlinable
    public static var serviceUnavailable: Self { Self(unchecked: 503) }
    /// 504 Gateway Timeout.
    @inlinable
    public static var gatewayTimeout: Self { Self(unchecked: 504) }
    /// 505 HTTP Version Not Supported.
    @inlinable
    public static var httpVersionNotSupported: Self { Self(unchecked: 505) }
    /// 506 Variant Also Negotiates.
    @inlinable
    public static var variantAlsoNegotiates: Self { Self(unchecked: 506) }
    /// 507 Insufficient Storage.
    @inlinable
    public static var insufficientStorage: Self { Self(unchecked: 507) }
    /// 508 Loop Detected.
    @inlinable
    public static var loopDetected: Self { Self(unchecked: 508) }
    /// 510 Not Extended.
    @inlinable
    public static var notExtended: Self { Self(unchecked: 510) }
    /// 511 Network Authentication Required.
    @inlinable
    public static var networkAuthenticationRequired: Self { Self(unchecked: 511) }

    /// The registered reason phrase, or an empty string for codes outside the registry.
    public var reasonPhrase: String {
        switch code {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 102: "Processing"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 203: "Non-Authoritative Information"
        case 204: "No Content"
        case 205: "Reset Content"
        case 206: "Partial Content"
        case 207: "Multi-Status"
        case 208: "Already Reported"
        case 226: "IM Used"
        case 300: "Multiple Choices"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 305: "Use Proxy"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 402: "Payment Required"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 423: "Locked"
        case 424: "Failed Dependency"
        case 425: "Too Early"
        case 426: "Upgrade Required"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 451: "Unavailable For Legal Reasons"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 506: "Variant Also Negotiates"
        case 507: "Insufficient Storage"
        case 508: "Loop Detected"
        case 510: "Not Extended"
        case 511: "Network Authentication Required"
        default: ""
        }
    }
}
