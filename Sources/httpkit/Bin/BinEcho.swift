import HTTPCodecs
import HTTPCrypto
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// A request as JSON.
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
                "The parts of a \(name) request, with content, form, files and JSON."
            ) { request in
                try await Self.echo(request)
            }
        }
        for path in ["/anything", "/anything/*"] {
            let isListed = path == "/anything"
            wait(
                nil, path, isListed ? "Any method, and any path below." : ""
            ) { request in
                try await Self.echo(request, adding: ["method": .text(request.method.name)])
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

    /// The JSON members of all answers.
    static func head(of request: Request) -> [JSONName: JSONValue] {
        [
            "args": JSONValue(request.query), "headers": fields(of: request),
            "origin": .text(origin(of: request)), "url": .text(url(of: request)),
        ]
    }

    /// The content of a request, as it was read.
    private enum Content: Sendable {
        case form(UploadedForm, files: [(name: String, content: JSONValue)])
        case data([UInt8], MediaType?)
    }

    /// Head and content. Long content takes a while to read and write, so this does not run on the
    /// event loop.
    static func echo(
        _ request: Request, adding more: [JSONName: JSONValue] = [:]
    ) async throws -> Response {
        let content = try await content(of: request)
        return try await BlockingPool.computing.runUnlessCancelled {
            let members = head(of: request).merging(members(of: content)) { $1 }
            return JSONValue.object(members.merging(more) { $1 }).response()
        }
    }

    private static func content(of request: Request) async throws -> Content {
        switch request.mediaType?.essence {
        case "multipart/form-data", "application/x-www-form-urlencoded":
            let form = try await request.form(limits: formLimits)
            var files: [(name: String, content: JSONValue)] = []
            for file in form.files {
                let content = try await file.content(upTo: contentLimit)
                let text = try await BlockingPool.computing.runUnlessCancelled {
                    Self.text(content, file.mediaType)
                }
                files.append((file.name, .text(text)))
            }
            return .form(form, files: files)
        case let essence:
            let content = try await request.body.raw.collect(upTo: contentLimit)
            return .data(content, essence.flatMap { MediaType($0) })
        }
    }

    private static func members(of content: Content) -> [JSONName: JSONValue] {
        var members: [JSONName: JSONValue] = [
            "data": .text(""), "form": .object([:]), "files": .object([:]), "json": .null,
        ]
        switch content {
        case .form(let form, let files):
            members["form"] = JSONValue(form.fields)
            members["files"] = JSONValue(
                grouping: files.map { (JSONName($0.name), $0.content) })
        case .data(let bytes, let mediaType):
            members["data"] = .text(text(bytes, mediaType))
            if let json = JSONValue(parsing: bytes) { members["json"] = json }
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

    /// UTF-8 text unchanged, other bytes as a data URL (RFC 2397).
    private static func text(_ content: [UInt8], _ mediaType: MediaType?) -> String {
        if let text = String(validating: content, as: UTF8.self) { return text }
        let type = mediaType?.essence ?? "application/octet-stream"
        return "data:\(type);base64,\(Base64.text(of: content))"
    }

    /// The fields by name. Each word of a name begins with a capital, regardless of the client's
    /// spelling. The values of a repeated name are joined with commas.
    static func fields(of request: Request) -> JSONValue {
        var members: [JSONName: JSONValue] = [:]
        for field in request.wireFields {
            let name = JSONName(capitalized(field.name.text))
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

    /// The scheme and authority of the request. A proxy that speaks TLS to the client sets the
    /// scheme with X-Forwarded-Proto.
    static func base(of request: Request) -> String {
        let scheme = request.fields[.xForwardedProto] == "https" ? "https" : "http"
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
