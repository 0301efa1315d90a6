internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem
internal import WebDAVKit

/// A member of a folder, as the page and the list show it.
struct ListedEntry: Sendable, Encodable {
    /// The name as text.
    var name: String
    /// The path from the root, as text.
    var path: String
    /// The path, percent-encoded as a value for a query or a form.
    var link: String
    /// `file` or `folder`.
    var type: String
    /// The number of bytes of a file.
    var size: Int64?
    /// The time of the last change (RFC 3339).
    var modified: String
    /// The time of creation (RFC 3339); `nil` if unknown.
    var created: String?
    /// The media type of a file.
    var mediaType: String?
    /// How the page shows a file: `image`, `video`, `audio`, `pdf` or `text`; `nil` for no preview.
    var preview: String?

    var isFolder: Bool { type == "folder" }
}

/// A folder, and some or all of its members.
struct Listed: Sendable, Encodable {
    var path: String
    var link: String
    var total: Int
    var offset: Int
    /// The offset of the next part; `nil` after the last.
    var next: Int?
    var entries: [ListedEntry]
    var role: String
}

extension UploaderSite {
    static let pageLimit = 1_000
    private static let greatestPageLimit = 10_000

    /// `GET list`: the members of a folder as JSON.
    func list(_ call: UploaderCall) async throws -> Response {
        let offset = try number(call, "offset", 0...Int.max, 0)
        let limit = try number(call, "limit", 1...Self.greatestPageLimit, Self.pageLimit)
        let path = try UploaderCall.path(call.parameter("path") ?? [])
        let listed = try await listed(path, offset: offset, limit: limit, call)
        // Encoding some megabytes of JSON would block the event loop.
        let response = try await BlockingPool.computing.runUnlessCancelled {
            try Self.response(listed)
        }
        return try response.conditional(for: call.request)
    }

    /// The list as JSON. Equal lists have equal tags.
    private static func response(_ listed: Listed) throws -> Response {
        var json = JSONBody()
        json.options.sortsNames = true
        let content = try json.encode(listed)
        var response = Response(
            .ok, fields: [.cacheControl: "private, no-cache", .xContentTypeOptions: "nosniff"],
            body: .bytes(content, mediaType: "application/json"))
        response.entityTag = EntityTag(of: content)
        return response
    }

    private func number(
        _ call: UploaderCall, _ name: String, _ range: ClosedRange<Int>, _ standard: Int
    ) throws -> Int {
        guard let value = call.parameter(name) else { return standard }
        guard value.count <= 18, let number = Int(String(decoding: value, as: UTF8.self)),
            range.contains(number)
        else { throw UploaderError(.badRequest, .field, "\(name) is out of range") }
        return number
    }

    /// Some of the members of a folder: folders first, in natural order.
    func listed(
        _ path: ResourcePath, offset: Int, limit: Int, _ call: UploaderCall
    ) async throws -> Listed {
        try call.require(call.role.mayList)
        let path = try await files.resolved(path)
        return try await perform(.list(path), call) {
            guard try await files.info(path).isCollection else {
                throw UploaderError(.conflict, .path, "the path is not a folder")
            }
            var shown: [ResourceMember] = []
            let members = try await files.store.members(of: path, withProperties: false)
            while let batch = try await members.next() {
                shown += batch.filter {
                    files.isShown($0.name, isFolder: $0.info.isCollection)
                }
            }
            // Sorting a hundred thousand names would block the event loop.
            let listed = try await BlockingPool.computing.runUnlessCancelled {
                [shown, role = call.role] in
                Self.part(of: shown, in: path, offset: offset, limit: limit, role)
            }
            return (listed, .list(path))
        }
    }

    private static func part(
        of shown: [ResourceMember], in path: ResourcePath, offset: Int, limit: Int,
        _ role: UploaderRole
    ) -> Listed {
        let keys = shown.map { NaturalOrderKey($0.name) }
        let order = shown.indices.sorted { left, right in
            let (first, second) = (shown[left].info, shown[right].info)
            guard first.isCollection == second.isCollection else { return first.isCollection }
            return keys[left] < keys[right]
        }
        let start = min(offset, shown.count)
        let end = start + min(limit, shown.count - start)
        return Listed(
            path: PathText.shown(path, isFolder: true),
            link: PathText.link(path, isFolder: true), total: shown.count, offset: start,
            next: end < shown.count ? end : nil,
            entries: order[start..<end].map { entry(shown[$0], in: path) },
            role: role.rawValue)
    }

    private static func entry(_ member: ResourceMember, in folder: ResourcePath) -> ListedEntry {
        let path = folder.appending(member.name)
        let info = member.info
        let isFolder = info.isCollection
        let type = isFolder ? nil : MediaTypeTable.standard.contentType(ofFile: member.name)
        return ListedEntry(
            name: String(decoding: member.name, as: UTF8.self),
            path: PathText.shown(path, isFolder: isFolder),
            link: PathText.link(path, isFolder: isFolder), type: isFolder ? "folder" : "file",
            size: isFolder ? nil : info.length,
            modified: info.modified.text(fractionDigits: 0),
            created: info.created?.text(fractionDigits: 0), mediaType: type,
            preview: type.flatMap { PreviewKind(ofType: $0) }?.rawValue)
    }
}

/// Paths of the interface: with a leading slash, and a trailing one after folders.
enum PathText {
    static func shown(_ path: ResourcePath, isFolder: Bool) -> String {
        guard !path.isRoot else { return "/" }
        return "/" + String(decoding: path.bytes, as: UTF8.self) + (isFolder ? "/" : "")
    }

    /// The percent-encoded path as the value of a query or a form.
    static func link(_ path: ResourcePath, isFolder: Bool) -> String {
        guard !path.isRoot else { return "/" }
        return "/" + path.segments.map { PathEncoding.segment($0) }.joined(separator: "/")
            + (isFolder ? "/" : "")
    }
}
