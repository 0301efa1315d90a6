import HTTPCodecs
import HTTPCrypto
import HTTPParser
import HTTPServerCore

/// What a request was, as JSON.
extension BinRouter {
    mutating func addEchoes() {
        group("The request, sent back")
        answer([.get], "/get", "Query, fields, origin and URL of a GET request.") { request in
            JSONValue.object(Self.head(of: request)).response()
        }
        let writing: [HTTPMethod] = [.post, .put, .patch, .delete]
        for method in writing {
            let name = method.name
            wait(
                [method], "/\(name.lowercased())",
                "The same for \(name), with content, form, files and JSON."
            ) { request in
                JSONValue.object(try await Self.whole(of: request)).response()
            }
        }
        for path in ["/anything", "/anything/*"] {
            let isListed = path == "/anything"
            wait(
                nil, path, isListed ? "Any method, and any path below." : ""
            ) { request in
                var members = try await Self.whole(of: request)
                members["method"] = .text(request.method.name)
                return JSONValue.object(members).response()
            }
        }
        answer(nil, "/headers", "The fields of the request.") { request in
            JSONValue.object(["headers": Self.fields(of: request)]).response()
        }
        answer(nil, "/ip", "The address that the request came from.") { request in
            JSONValue.object(["origin": .text(Self.origin(of: request))]).response()
        }
        answer(nil, "/user-agent", "The value of User-Agent.") { request in
            let agent = request.fields[.userAgent].map { JSONValue.text($0) } ?? .null
            return JSONValue.object(["user-agent": agent]).response()
        }
        answer([.get], "/uuid", "A random UUID (RFC 9562, version 4).") { _ in
            JSONValue.object(["uuid": .text(Self.uuid())]).response()
        }
    }

    // MARK: Parts of the answers

    /// What all answers have in common.
    static func head(of request: Request) -> [String: JSONValue] {
        [
            "args": JSONValue(request.query), "headers": fields(of: request),
            "origin": .text(origin(of: request)), "url": .text(url(of: request)),
        ]
    }

    /// Head and content.
    static func whole(of request: Request) async throws -> [String: JSONValue] {
        var members = head(of: request)
        members["data"] = .text("")
        members["form"] = .object([:])
        members["files"] = .object([:])
        members["json"] = .null
        switch request.mediaType?.essence {
        case "multipart/form-data", "application/x-www-form-urlencoded":
            let form = try await request.form(limits: formLimits)
            members["form"] = JSONValue(form.fields)
            var files: [(String, JSONValue)] = []
            for file in form.files {
                let content = try await file.content(upTo: contentLimit)
                files.append((file.name, .text(text(content, file.mediaType))))
            }
            members["files"] = JSONValue(grouping: files)
        case let essence:
            let content = try await request.body.raw.collect(upTo: contentLimit)
            members["data"] = .text(text(content, essence.flatMap { MediaType($0) }))
            if let json = JSONValue(parsing: content) { members["json"] = json }
        }
        return members
    }

    private static var formLimits: UploadedForm.Limits {
        var limits = UploadedForm.Limits.standard
        limits.multipart.totalBytes = Int64(contentLimit)
        limits.fieldBytes = contentLimit
        limits.urlEncoded.byteLimit = contentLimit
        return limits
    }

    /// UTF-8 as it is, and all other bytes as a data URL (RFC 2397).
    private static func text(_ content: [UInt8], _ mediaType: MediaType?) -> String {
        if let text = String(validating: content, as: UTF8.self) { return text }
        let type = mediaType?.essence ?? "application/octet-stream"
        return "data:\(type);base64,\(Base64.text(of: content))"
    }

    /// The fields by name, each word of which begins with a capital, whatever way the client wrote
    /// it. The values of a name that comes several times are joined.
    static func fields(of request: Request) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for field in request.fields {
            let name = capitalized(field.name.text)
            if case .text(let earlier) = members[name] {
                members[name] = .text("\(earlier),\(field.value)")
            } else {
                members[name] = .text(field.value)
            }
        }
        return .object(members)
    }

    static func capitalized(_ name: String) -> String {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        return words.map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            .joined(separator: "-")
    }

    static func origin(of request: Request) -> String {
        request.fields[.xForwardedFor] ?? request.peer.host
    }

    /// Scheme and authority of the request; a proxy in front that speaks TLS says so.
    static func base(of request: Request) -> String {
        let scheme = request.fields["X-Forwarded-Proto"] == "https" ? "https" : "http"
        return "\(scheme)://\(request.fields[.host] ?? request.local.description)"
    }

    static func url(of request: Request) -> String {
        let target = request.target
        return target.form == .origin ? base(of: request) + target.text : target.text
    }

    private static func uuid() -> String {
        var bytes = Crypto.random(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Hex.text(of: bytes)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text += "-" }
            text.append(digit)
        }
        return text
    }
}
