package import HTTPParser
package import HTTPServerCore
internal import Synchronization

/// Tells that a handler is asked only whether it would take the content.
private enum PrecheckKey: RequestKey { typealias Value = Bool }

/// Tells that a handler has refused a request because of its credentials.
private enum CredentialRefusalKey: RequestKey { typealias Value = Bool }

extension Request {
    /// The announced length of the content as it is sent, its coding left on; `nil` without
    /// Content-Length.
    package var wireContentLength: Int64? { storage.head.contentLength }

    /// Whether a handler is asked only whether it would take the content (see `PrecheckingHandler`).
    /// It is for handlers of which a part answers that goes through others of their own.
    package var isPrecheck: Bool {
        get { self[PrecheckKey.self] ?? false }
        nonmutating set { self[PrecheckKey.self] = newValue ? true : nil }
    }

    /// Whether a handler has refused this request because of a token or other credentials, with a
    /// status that does not say so. The same content may come again with better ones.
    package var isRefusedForCredentials: Bool {
        get { self[CredentialRefusalKey.self] ?? false }
        nonmutating set { self[CredentialRefusalKey.self] = newValue ? true : nil }
    }

    /// Another request in place of this one: same connection, mount and values, another head and
    /// other content.
    /// - Parameters:
    ///   - method: its method.
    ///   - target: its target, as on a request line.
    ///   - fields: its fields, without those that frame the content.
    ///   - length: how long the content is; `nil` when that is not known.
    ///   - body: the content.
    /// - Returns: `nil` when that makes no head.
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

    /// The last bytes of the target, if they end its path and a marker stands right before them.
    /// - Parameters:
    ///   - count: how many.
    ///   - marker: the bytes before.
    package func targetEnd(_ count: Int, behind marker: [UInt8]) -> [UInt8]? {
        let bytes = unsafe targetBytes
        let start = bytes.count - count
        guard start >= marker.count else { return nil }
        for (index, byte) in marker.enumerated() {
            guard unsafe bytes[start - marker.count + index] == byte else { return nil }
        }
        // A query may hold such a path, as the address to come back to.
        guard unsafe !bytes[..<start].contains(UInt8(ascii: "?")) else { return nil }
        return unsafe Array(bytes[start...])
    }

    /// The path at which the handler is mounted that has the request, percent-encoded; without a
    /// slash at its end, and empty for the root.
    package var mountPath: String {
        Self.encoded(canonicalPath?.segments.prefix(mountDepth) ?? [])
    }

    /// The path without its last two segments, in the same form: an upload's is
    /// `MOUNT/.uploads/ID`, by whatever route it is asked for.
    package var pathOfUploads: String {
        Self.encoded(canonicalPath?.segments.dropLast(2) ?? [])
    }

    private static func encoded(_ segments: some Sequence<[UInt8]>) -> String {
        segments.reduce(into: "") { $0 += "/" + PathEncoding.segment($1) }
    }

    /// Runs `body` to its end, even when the client goes meanwhile.
    package func outliving<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await Task(executorPreference: storage.connection.loop, operation: body).value
    }
}
