package import HTTPParser
package import HTTPServerCore
internal import Synchronization

/// The key of `Request.isPrecheck`.
private enum PrecheckKey: RequestKey { typealias Value = Bool }

/// The key of `Request.isRefusedForCredentials`.
private enum CredentialRefusalKey: RequestKey { typealias Value = Bool }

extension Request {
    /// The announced length of the content in bytes, before its content coding is removed; `nil`
    /// without Content-Length.
    package var wireContentLength: Int64? { storage.head.contentLength }

    /// Whether the handler is only asked whether it would accept the content (see
    /// `PrecheckingHandler`). A handler sets this to pass the question on to its inner handlers.
    package var isPrecheck: Bool {
        get { self[PrecheckKey.self] ?? false }
        nonmutating set { self[PrecheckKey.self] = newValue ? true : nil }
    }

    /// Whether a handler has refused this request because of a token or other credentials, although
    /// the status does not show that. The client may send the same content again with valid
    /// credentials.
    package var isRefusedForCredentials: Bool {
        get { self[CredentialRefusalKey.self] ?? false }
        nonmutating set { self[CredentialRefusalKey.self] = newValue ? true : nil }
    }

    /// A request that replaces this one: with the same connection, mount and values, a new head and
    /// new content.
    /// - Parameters:
    ///   - method: the new method.
    ///   - target: the new target, as on a request line.
    ///   - fields: the new fields, without those that frame the content.
    ///   - length: the length of the content in bytes; `nil` if it is unknown.
    ///   - body: the content.
    /// - Returns: `nil` if the head would be invalid.
    package func standIn(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields, length: Int64?,
        body: RequestBody
    ) -> Request? {
        var text = "\(method.name) \(target) HTTP/1.1\r\n"
        for field in fields { text += "\(field.name.text): \(field.value)\r\n" }
        text +=
            length.map { "Content-Length: \($0)\r\n\r\n" } ?? "Transfer-Encoding: chunked\r\n\r\n"
        let bytes = Array(text.utf8)
        // The original head has passed the limits, and may have been allowed to lack Host.
        var limits = ParserLimits.standard
        limits.startLineBytes = .max
        limits.fieldLineBytes = .max
        limits.fieldSectionBytes = .max
        limits.fieldCount = .max
        var parser = HeadParser(.request, limits: limits, leniency: [.missingHost])
        guard let count = try? parser.parse(bytes.span), count == bytes.count else { return nil }
        let head = RequestHead(parser, copying: bytes.span, length: count)
        var copy = Request(
            Request.Storage(head: head, content: StandInContent(body), inPlaceOf: storage))
        copy.parameters = parameters
        copy.mountDepth = mountDepth
        return copy
    }

    /// The last bytes of the target, if the target has no query before them and they follow a
    /// marker.
    /// - Parameters:
    ///   - count: how many bytes.
    ///   - marker: the bytes that must precede them.
    package func targetEnd(_ count: Int, behind marker: [UInt8]) -> [UInt8]? {
        let bytes = unsafe targetBytes
        let start = bytes.count - count
        guard start >= marker.count else { return nil }
        for (index, byte) in marker.enumerated() {
            guard unsafe bytes[start - marker.count + index] == byte else { return nil }
        }
        // A query may contain the same path, for example as a return address.
        guard unsafe !bytes[..<start].contains(UInt8(ascii: "?")) else { return nil }
        return unsafe Array(bytes[start...])
    }

    /// The path at which the current handler is mounted, percent-encoded, without a slash at its
    /// end; empty for the root.
    package var mountPath: String {
        Self.encoded(canonicalPath?.segments.prefix(mountDepth) ?? [])
    }

    /// The path without its last two segments, in the form of `mountPath`. The path of an upload is
    /// `MOUNT/.uploads/ID`, whichever route the request took.
    package var pathOfUploads: String {
        Self.encoded(canonicalPath?.segments.dropLast(2) ?? [])
    }

    private static func encoded(_ segments: some Sequence<[UInt8]>) -> String {
        segments.reduce(into: "") { $0 += "/" + PathEncoding.segment($1) }
    }

    /// Runs `body` to its end, even if the client disconnects before.
    package func outliving<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await Task(executorPreference: storage.connection.loop, operation: body).value
    }
}
