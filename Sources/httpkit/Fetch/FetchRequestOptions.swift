import ArgumentParser
import HTTPCodecs
import HTTPParser
import URLClient

/// The parts of the request.
struct FetchRequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp(
            "The method; by default GET, POST with -d or -F, PUT with -T.", valueName: "method"))
    var method: String?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("A field; can be given several times.", valueName: "name: value"))
    var fields: [String] = []

    @Option(
        name: [.customShort("d"), .customLong("data")], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Content, or @ and the file that contains it; several are joined with an ampersand.",
            discussion: "@- is standard input, read to its end before anything is sent.",
            valueName: "data|@file"))
    var data: [String] = []

    @Option(
        name: [.customShort("F"), .customLong("form")],
        help: ArgumentHelp(
            "A field of a form, or a file to upload in it.", valueName: "name=value|name=@file"))
    var form: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp(
            "A file to send; - is standard input, sent while it is read.", valueName: "file"))
    var upload: String?

    @Flag(help: "Send the content of -d as JSON, and accept JSON.")
    var json = false

    /// Whether there is content to send.
    var hasContent: Bool { !data.isEmpty || !form.isEmpty || upload != nil }

    func validate() throws {
        let kinds = [!data.isEmpty, !form.isEmpty, upload != nil].filter { $0 }
        if kinds.count > 1 { throw ValidationError("-d, -F and -T exclude each other") }
        if data.count > 1, let file = data.first(where: { $0.hasPrefix("@") }) {
            throw ValidationError("\(file): a file cannot be joined with other data")
        }
        if let method, HTTPMethod(method) == nil {
            throw ValidationError("\(method) cannot be a method")
        }
        for field in fields { _ = try FieldArgument(field, of: "-H") }
        for field in form where !field.contains("=") {
            throw ValidationError("-F takes NAME=VALUE or NAME=@FILE")
        }
    }

    /// Whether the request differs from a plain GET.
    var isUnusual: Bool { method != nil || json || hasContent }

    /// The request that the options describe.
    func request(
        _ url: String, _ connection: FetchConnectionOptions
    ) throws -> ClientRequest {
        let standard: HTTPMethod =
            upload != nil ? .put : data.isEmpty && form.isEmpty ? .get : .post
        let method = method.flatMap { HTTPMethod($0) } ?? standard
        var request = ClientRequest(method, url, body: try body)
        request.allowsContentWithoutMeaning = true
        if json { request.fields[.accept] = "application/json" }
        for text in fields {
            let field = try FieldArgument(text, of: "-H")
            request.fields.append(field.name, field.value)
        }
        try connection.apply(to: &request)
        return request
    }

    private var body: ClientBody {
        get throws {
            if upload == "-" { return .stream(StandardInputPieces()) }
            if let upload { return .file(upload) }
            if !form.isEmpty { return .multipart(try multipart) }
            guard let first = data.first else { return .none }
            let mediaType = json ? "application/json" : MediaType.urlEncodedForm.essence
            if data == ["@-"] {
                return .bytes(try StandardInputPieces.all(), mediaType: mediaType)
            }
            if first.hasPrefix("@") {
                return .file(String(first.dropFirst()), mediaType: mediaType)
            }
            return .text(data.joined(separator: "&"), mediaType: mediaType)
        }
    }

    private var multipart: ClientForm {
        get throws {
            var made = ClientForm()
            for field in form {
                guard let sign = field.firstIndex(of: "=") else { continue }
                let (name, value) = (String(field[..<sign]), field[field.index(after: sign)...])
                if value.hasPrefix("@") {
                    try made.append(name, file: String(value.dropFirst()))
                } else {
                    try made.append(name, String(value))
                }
            }
            return made
        }
    }
}
