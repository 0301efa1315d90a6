import HTTPParser
import Testing

@Suite("RFC 9110, 15: Status codes and versions")
struct HTTPStatusTests {
    @Test("A code has three digits", arguments: [-1, 0, 99, 1_000, 65_536 + 200])
    func outside(code: Int) {
        #expect(HTTPStatus(code) == nil)
    }

    @Test("The first digit is the class")
    func classes() {
        let expected: [HTTPStatus.Class] = [
            .informational, .successful, .redirection, .clientError, .serverError, .invalid,
            .invalid, .invalid, .invalid,
        ]
        for code in 100...999 {
            #expect(HTTPStatus(code)?.class == expected[code / 100 - 1])
            #expect(HTTPStatus(code)?.isSuccess == (code / 100 == 2))
        }
    }

    @Test("RFC 9112, 6.3: Only 1xx, 204 and 304 forbid content")
    func content() {
        for code in 100...999 {
            let forbids = code < 200 || code == 204 || code == 304
            #expect(HTTPStatus(code)?.forbidsContent == forbids)
        }
    }

    @Test(
        "Constants have the registered codes and phrases",
        arguments: [
            (.continue, 100, "Continue"),
            (.switchingProtocols, 101, "Switching Protocols"),
            (.processing, 102, "Processing"),
            (.earlyHints, 103, "Early Hints"),
            (.ok, 200, "OK"),
            (.created, 201, "Created"),
            (.accepted, 202, "Accepted"),
            (.nonAuthoritativeInformation, 203, "Non-Authoritative Information"),
            (.noContent, 204, "No Content"),
            (.resetContent, 205, "Reset Content"),
            (.partialContent, 206, "Partial Content"),
            (.multiStatus, 207, "Multi-Status"),
            (.alreadyReported, 208, "Already Reported"),
            (.imUsed, 226, "IM Used"),
            (.multipleChoices, 300, "Multiple Choices"),
            (.movedPermanently, 301, "Moved Permanently"),
            (.found, 302, "Found"),
            (.seeOther, 303, "See Other"),
            (.notModified, 304, "Not Modified"),
            (.useProxy, 305, "Use Proxy"),
            (.temporaryRedirect, 307, "Temporary Redirect"),
            (.permanentRedirect, 308, "Permanent Redirect"),
            (.badRequest, 400, "Bad Request"),
            (.unauthorized, 401, "Unauthorized"),
            (.paymentRequired, 402, "Payment Required"),
            (.forbidden, 403, "Forbidden"),
            (.notFound, 404, "Not Found"),
            (.methodNotAllowed, 405, "Method Not Allowed"),
            (.notAcceptable, 406, "Not Acceptable"),
            (.proxyAuthenticationRequired, 407, "Proxy Authentication Required"),
            (.requestTimeout, 408, "Request Timeout"),
            (.conflict, 409, "Conflict"),
            (.gone, 410, "Gone"),
            (.lengthRequired, 411, "Length Required"),
            (.preconditionFailed, 412, "Precondition Failed"),
            (.contentTooLarge, 413, "Content Too Large"),
            (.uriTooLong, 414, "URI Too Long"),
            (.unsupportedMediaType, 415, "Unsupported Media Type"),
            (.rangeNotSatisfiable, 416, "Range Not Satisfiable"),
            (.expectationFailed, 417, "Expectation Failed"),
            (.misdirectedRequest, 421, "Misdirected Request"),
            (.unprocessableContent, 422, "Unprocessable Content"),
            (.locked, 423, "Locked"),
            (.failedDependency, 424, "Failed Dependency"),
            (.tooEarly, 425, "Too Early"),
            (.upgradeRequired, 426, "Upgrade Required"),
            (.preconditionRequired, 428, "Precondition Required"),
            (.tooManyRequests, 429, "Too Many Requests"),
            (.requestHeaderFieldsTooLarge, 431, "Request Header Fields Too Large"),
            (.unavailableForLegalReasons, 451, "Unavailable For Legal Reasons"),
            (.internalServerError, 500, "Internal Server Error"),
            (.notImplemented, 501, "Not Implemented"),
            (.badGateway, 502, "Bad Gateway"),
            (.serviceUnavailable, 503, "Service Unavailable"),
            (.gatewayTimeout, 504, "Gateway Timeout"),
            (.httpVersionNotSupported, 505, "HTTP Version Not Supported"),
            (.variantAlsoNegotiates, 506, "Variant Also Negotiates"),
            (.insufficientStorage, 507, "Insufficient Storage"),
            (.loopDetected, 508, "Loop Detected"),
            (.notExtended, 510, "Not Extended"),
            (.networkAuthenticationRequired, 511, "Network Authentication Required"),
        ] as [(HTTPStatus, Int, String)])
    func constants(status: HTTPStatus, code: Int, phrase: String) {
        #expect(HTTPStatus(code) == status)
        #expect(status.reasonPhrase == phrase)
        #expect("\(status)" == "\(code) \(phrase)")
    }

    @Test("Codes outside the registry have no phrase")
    func unregistered() {
        #expect(HTTPStatus(299)?.reasonPhrase == "")
        #expect(HTTPStatus(999)?.reasonPhrase == "")
    }

    @Test("2.5: Versions are ordered by their minor number")
    func versions() {
        #expect(HTTPVersion.http10 < .http11)
        #expect(HTTPVersion.http11.minor == 1)
        #expect("\(HTTPVersion.http10)" == "HTTP/1.0")
    }
}
