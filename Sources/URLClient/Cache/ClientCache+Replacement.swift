internal import Dispatch
package import HTTPParser

extension ClientCache {
    /// Replaces what is stored for a request. Where nothing is found for it, all that is stored for
    /// its URL is removed: what was stored for a user is not found by the fields of the request, and
    /// must not stay as it was.
    /// - Parameters:
    ///   - request: the request.
    ///   - fields: of the response that is replaced; one that came in its place stays. nil for
    ///     whichever is there.
    ///   - inMemoryOnly: whether the disk gets nothing, and loses what it has for the URL.
    ///   - change: changes the head, and gives the content; nil removes what is stored for the URL.
    package func replaceStored(
        for request: ClientRequest, of fields: HTTPFields? = nil, inMemoryOnly: Bool = false,
        _ change: @Sendable (inout CachedHead) -> [UInt8]?
    ) async {
        guard let url = try? request.wire.get().text else { return }
        guard var head = await lookUp(url, request.fields)?.head else { return invalidate(url) }
        if let fields {
            // If it is unclear which response this is, nothing stays: the caller wanted it changed.
            guard let isSame = head.isOf(CacheRules.stored(fields)) else { return invalidate(url) }
            guard isSame else { return }
        }
        guard let content = change(&head) else { return invalidate(url) }
        store(head, content, inMemoryOnly: inMemoryOnly)
    }

    /// The stored response for a request, read at once. The caller must be able to wait for the disk.
    package func storedNow(
        for request: ClientRequest
    ) -> (head: CachedHead, content: [UInt8])? {
        guard let url = try? request.wire.get().text else { return nil }
        // A session that takes no coding off has asked without the codings.
        guard let stored = readNow(url, request.askedFields) ?? readNow(url, request.fields) else {
            return nil
        }
        switch stored.content {
        case .bytes(let bytes): return (stored.head, bytes)
        case .file(let file):
            var content: [UInt8] = []
            while Int64(content.count) < file.count {
                let piece = file.read(at: Int64(content.count))
                guard !piece.isEmpty else { return nil }
                content += piece
            }
            return (stored.head, content)
        }
    }

    private func readNow(_ url: String, _ fields: HTTPFields) -> Stored? {
        found(url, fields) ?? (asksDisk ? queue.sync { readDisk(url, fields) } : nil)
    }

    /// Stores a response as if it had come just now in answer to a request: for the fields of the
    /// request that it depends on. One that depends on everything (`Vary: *`) answers no request, and
    /// is left out.
    /// - Parameter inMemoryOnly: whether the disk gets nothing, and loses what it has for the URL.
    package func keep(
        _ status: HTTPStatus, _ fields: HTTPFields, _ content: [UInt8], for request: ClientRequest,
        inMemoryOnly: Bool = false
    ) {
        guard let url = try? request.wire.get().text, let vary = CacheRules.varyNames(fields) else {
            return
        }
        let now = WallClock.now
        store(
            CachedHead(
                url: url, status: status, fields: CacheRules.storedAsDelivered(fields),
                requestTime: now, responseTime: now,
                vary: vary, variant: CacheRules.variant(of: request.askedFields, names: vary)),
            content, inMemoryOnly: inMemoryOnly)
    }
}

extension CachedHead {
    /// Whether it is of the response with such stored fields, and not of one that came in its place;
    /// nil when the fields leave that open.
    fileprivate func isOf(_ stored: HTTPFields) -> Bool? {
        guard stored[.eTag].isIdentical(to: fields[.eTag]),
            stored[.lastModified].isIdentical(to: fields[.lastModified])
        else { return false }
        if stored.contains(.eTag) || stored[.date].isIdentical(to: fields[.date]) { return true }
        // With a validator, the new date may be that of a 304 for the same response.
        return stored.contains(.lastModified) ? nil : false
    }
}

extension ClientRequest {
    /// The fields as a session with the default configuration asks with them: it adds the codings that
    /// it takes off.
    fileprivate var askedFields: HTTPFields {
        var asked = fields
        if decodesContent ?? true, !asked.contains(.acceptEncoding), !asked.contains(.range) {
            asked.append(.acceptEncoding, TakenCoding.accepted)
        }
        return asked
    }
}
