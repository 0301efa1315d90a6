import HTTPParser
import Testing

@Suite("Parse errors: texts and suggested statuses")
struct HTTPParseErrorTests {
    @Test("The text names the kind and the offset")
    func text() {
        let error = HTTPParseError(.bareLineFeed, at: 17)
        #expect("\(error)" == "bare line feed at byte 17")
        #expect(error.reason == "bare line feed")
        #expect("\(HTTPParseError(.truncated, at: 0))" == "truncated at byte 0")
    }

    @Test(
        "Errors of limits, versions and codings suggest their own status",
        arguments: [
            (.requestLineTooLong, 414), (.fieldTooLong, 431), (.fieldsTooLong, 431),
            (.tooManyFields, 431), (.trailersTooLong, 431), (.contentTooLong, 413),
            (.chunkExtensionsTooLong, 413), (.unsupportedVersion, 505),
            (.unsupportedTransferCoding, 501),
        ] as [(HTTPParseError.Kind, UInt16)])
    func status(kind: HTTPParseError.Kind, code: UInt16) {
        #expect(HTTPParseError(kind, at: 0).suggestedStatus.code == code)
    }

    @Test("All other errors suggest 400")
    func badRequest() {
        let bad = HTTPParseError.Kind.allCases.filter {
            HTTPParseError($0, at: 0).suggestedStatus == .badRequest
        }
        #expect(bad.count == HTTPParseError.Kind.allCases.count - 9)
    }

    @Test("Errors are compared by kind and offset")
    func equality() {
        #expect(HTTPParseError(.truncated, at: 1) == HTTPParseError(.truncated, at: 1))
        #expect(HTTPParseError(.truncated, at: 1) != HTTPParseError(.truncated, at: 2))
        #expect(HTTPParseError(.truncated, at: 1) != HTTPParseError(.missingHost, at: 1))
    }
}
