internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// The mount point of a handler, taken from the request.
struct Mount: Sendable {
    /// The path segments of the mount point, which precede the store's own segments.
    let segments: [[UInt8]]
    /// The mount point as a percent-encoded path, with a slash before each segment.
    let prefix: String

    init(_ request: Request) {
        let depth = request.mountDepth
        self.init(
            segments: depth == 0 ? [] : (request.canonicalPath?.segments ?? []).prefix(depth))
    }

    init(segments: ArraySlice<[UInt8]>) {
        self.segments = Array(segments)
        prefix = segments.map { "/" + PathEncoding.segment($0) }.joined()
    }

    /// The segments after the mount point; `nil` outside of the mount.
    func inner(_ all: [[UInt8]]) -> [[UInt8]]? {
        guard all.starts(with: segments) else { return nil }
        return Array(all[segments.count...])
    }

    /// The absolute path by which clients find a resource. It omits scheme and host, because a
    /// proxy may have changed them. The path of a collection ends with a slash.
    func href(_ path: ResourcePath, isCollection: Bool) -> String {
        path.isRoot
            ? prefix + "/" : prefix + "/" + path.encoded + (isCollection ? "/" : "")
    }
}

/// A request, and the parts of it that most methods need.
struct WebDAVCall: Sendable {
    let request: Request
    let mount: Mount
    let path: ResourcePath
    /// Whether the path ends with a slash.
    let namesCollection: Bool
    let ifHeader: IfHeader?

    init(
        _ request: Request, _ mount: Mount, _ path: ResourcePath, namesCollection: Bool
    ) throws(WebDAVError) {
        self.request = request
        self.mount = mount
        self.path = path
        self.namesCollection = namesCollection
        guard let field = request.fields.list(.ifHeader) else {
            ifHeader = nil
            return
        }
        guard let header = IfHeader(field) else {
            throw WebDAVError(.badRequest, "malformed If header field")
        }
        ifHeader = header
    }

    /// The request's Depth, or a default if the field is missing.
    func depth(orDefault fallback: Depth) throws(WebDAVError) -> Depth {
        guard let field = request.fields[.depth] else { return fallback }
        guard let depth = Depth(field) else {
            throw WebDAVError(.badRequest, "expected Depth 0, 1 or infinity")
        }
        return depth
    }

    /// The lock tokens that the client submits in If.
    var tokens: Set<LockToken> { ifHeader?.tokens ?? [] }

    /// Whether the client asks to omit what it can infer (RFC 8144 section 2): `return=minimal` in
    /// Prefer (RFC 7240 section 4.2).
    var prefersMinimal: Bool {
        guard let field = request.fields.list(.prefer) else { return false }
        return field.utf8.split(separator: 0x2C).contains { preference in
            // A preference may have parameters.
            let word = preference.prefix { $0 != 0x3B }.filter { $0 > 0x20 && $0 != 0x22 }
            return word.lazy.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
                .elementsEqual("return=minimal".utf8)
        }
    }

    /// The field that tells the client that its preference `return=minimal` was applied.
    static let minimalFields: HTTPFields = ["Preference-Applied": "return=minimal"]

    /// The content as XML; `nil` when there is no content. The media type is ignored, because some
    /// clients send XML as text/plain.
    func content() async throws -> XMLElement? {
        let bytes = try await bytes()
        return bytes.isEmpty ? nil : try XMLReader.read(bytes)
    }

    /// The parsed content; `nil` when there is no content.
    /// - Parameters:
    ///   - cache: the contents that were parsed before.
    ///   - parse: parses the XML of content that is not in the cache.
    func meaning<Meaning: Sendable>(
        _ cache: ParsedBodyCache<Meaning>, _ parse: (XMLElement) throws -> Meaning
    ) async throws -> Meaning? {
        let bytes = try await bytes()
        guard !bytes.isEmpty else { return nil }
        return try cache.meaning(of: bytes) { try parse(try XMLReader.read($0)) }
    }

    private func bytes() async throws -> [UInt8] {
        try await request.body.collect(upTo: XMLLimits().bytes)
    }
}
