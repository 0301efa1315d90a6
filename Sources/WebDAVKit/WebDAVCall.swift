internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit

/// Where a handler is mounted, as the request shows it.
struct Mount: Sendable {
    /// The segments in front of the store's own.
    let segments: [[UInt8]]
    /// The same, percent-encoded, with a slash in front of each.
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

    /// A path by which clients find a resource: absolute, without scheme and host, which a proxy may
    /// have changed, and with a slash at the end of a collection.
    func href(_ path: ResourcePath, isCollection: Bool) -> String {
        path.isRoot
            ? prefix + "/" : prefix + "/" + path.encoded + (isCollection ? "/" : "")
    }
}

/// A request, and what of it most methods look at.
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
            throw WebDAVError(.badRequest, "malformed If")
        }
        ifHeader = header
    }

    /// Depth, or what stands for it where the client does not say.
    func depth(_ without: Depth) throws(WebDAVError) -> Depth {
        guard let field = request.fields[.depth] else { return without }
        guard let depth = Depth(field) else {
            throw WebDAVError(.badRequest, "expected Depth 0, 1 or infinity")
        }
        return depth
    }

    /// The tokens that the client shows.
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

    /// The field that confirms it.
    static let minimalFields: HTTPFields = ["Preference-Applied": "return=minimal"]

    /// The XML of the content; `nil` when there is no content. Its media type does not count: some
    /// clients send XML as text/plain.
    func content() async throws -> XMLElement? {
        let bytes = try await bytes()
        return bytes.isEmpty ? nil : try XMLReader.read(bytes)
    }

    /// The parsed XML of the content; `nil` when there is no content.
    /// - Parameters:
    ///   - known: what came before.
    ///   - read: finds out what it means.
    func meaning<Meaning: Sendable>(
        _ known: ParsedBodyCache<Meaning>, _ read: (XMLElement) throws -> Meaning
    ) async throws -> Meaning? {
        let bytes = try await bytes()
        guard !bytes.isEmpty else { return nil }
        return try known.meaning(of: bytes) { try read(try XMLReader.read($0)) }
    }

    private func bytes() async throws -> [UInt8] {
        try await request.body.collect(upTo: XMLLimits().bytes)
    }
}
