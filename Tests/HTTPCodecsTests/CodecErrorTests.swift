import HTTPCodecs
import Testing

@Suite("Descriptions of codec errors")
struct CodecErrorTests {
    @Test(
        "The description names the byte where it is known",
        arguments: [
            (CodecError(.invalidJSON), "invalid JSON at byte 0"),
            (
                CodecError(.invalidJSON, at: 4, "a digit is missing"),
                "invalid JSON at byte 4: a digit is missing"
            ),
            (
                CodecError(.unexpectedJSON, #"the field "a" is missing"#),
                #"unexpected JSON: the field "a" is missing"#
            ),
            (CodecError(.unexpectedJSON), "unexpected JSON"),
            // In a stream of lines, the place is known.
            (CodecError(.unexpectedJSON, at: 9, "x"), "unexpected JSON at byte 9: x"),
            (CodecError(.unsupportedMediaType), "unsupported media type"),
            (CodecError(.unsupportedMediaType, "a form is wanted"), "a form is wanted"),
            (CodecError(.unsupportedCharset, at: 3, "x"), "unsupported charset at byte 3: x"),
            (CodecError(.invalidBoundary), "invalid boundary"),
            (CodecError(.outOfMemory), "out of memory"),
            (CodecError(.fileNotWritable, "no space left"), "file not writable: no space left"),
            (CodecError(.truncated), "truncated at byte 0"),
        ])
    func description(_ error: CodecError, _ text: String) {
        #expect(error.description == text)
    }
}
