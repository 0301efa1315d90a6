internal import HTTPCodecs
internal import HTTPParser
public import HTTPServerCore

/// The forms of errors that the kit offers.
extension ErrorRenderer {
    /// An HTML page with escaped text.
    public static let html = ErrorRenderer { error, _ in ErrorForm.page(error) }

    /// A JSON object of type `application/problem+json` (RFC 9457), with the members `title`,
    /// `status` and, if the error has a reason, `detail`.
    public static let problemJSON = ErrorRenderer { error, _ in ErrorForm.problem(error) }

    /// The form that Accept selects (RFC 9110 section 12.5.1): an HTML page for browsers,
    /// `application/problem+json` for clients that accept JSON, a line of text for all others.
    public static let negotiated = ErrorRenderer(variesByAccept: true) { error, request in
        let preference = request?.fields.list(.accept).flatMap { MediaTypePreference($0) }
        switch preference?.best(of: ErrorForm.offers) {
        case MediaType.html: return ErrorForm.page(error)
        case MediaType.json, ErrorForm.problemType: return ErrorForm.problem(error)
        default: return .text(error.description + "\n")
        }
    }
}

/// The bodies of errors in the offered forms.
enum ErrorForm {
    static let problemType = MediaType("application/problem+json") ?? .json
    static let offers: [MediaType] = [.plainText, .html, problemType, .json]

    static func page(_ error: HTTPError) -> ResponseBody {
        var page = HTMLWriter(reservingCapacity: 512)
        page.markup(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="color-scheme" content="light dark">
            <meta name="viewport" content="width=device-width">
            <title>
            """)
        page.text(error.status.description)
        page.markup("</title>\n</head>\n<body>\n<h1>")
        page.text(error.status.description)
        page.markup("</h1>\n")
        if !error.reason.isEmpty {
            page.markup("<p>")
            page.text(error.reason)
            page.markup("</p>\n")
        }
        page.markup("</body>\n</html>\n")
        return .bytes(page.bytes, mediaType: "text/html; charset=utf-8")
    }

    static func problem(_ error: HTTPError) -> ResponseBody {
        var text: [UInt8] = Array("{\"title\":".utf8)
        JSONEscaping.append(error.status.reasonPhrase, to: &text)
        text += ",\"status\":\(error.status.code)".utf8
        if !error.reason.isEmpty {
            text += ",\"detail\":".utf8
            JSONEscaping.append(error.reason, to: &text)
        }
        text += "}\n".utf8
        return .bytes(text, mediaType: "application/problem+json")
    }
}

/// Writes strings of JSON (RFC 8259 section 7) that are also safe in a page and on a terminal.
enum JSONEscaping {
    static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case 0x22, 0x5C: text += [0x5C, byte]
            case 0x0A: text += [0x5C, UInt8(ascii: "n")]
            case ..<0x20, UInt8(ascii: "<"), 0x7F: text += escaped(byte)
            // C2 80 to C2 9F are U+0080 to U+009F, which control terminals.
            case 0x80...0x9F where text.last == 0xC2:
                text.removeLast()
                text += escaped(byte)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func escaped(_ byte: UInt8) -> [UInt8] {
        [0x5C, 0x75, 0x30, 0x30, digit(byte >> 4), digit(byte & 15)]
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
