internal import Dispatch
internal import HTTPCodecs
package import HTTPParser

extension ClientCache {
    /// Replaces the stored response for a request. If none is found, all responses for its URL are
    /// removed: a response stored for a user is not found by the fields of the request alone, and
    /// must not stay as it was.
    /// - Parameters:
    ///   - request: the request.
    ///   - fields: the fields of the response to replace; a response that has replaced it since
    ///     stays. nil replaces any.
    ///   - inMemoryOnly: whether nothing is written to the disk, and the responses for the URL are
    ///     removed there.
    ///   - change: changes the head, and returns the content; nil removes all responses for the
    ///     URL.
    package func replaceStored(
        for request: ClientRequest, of fields: HTTPFields? = nil, inMemoryOnly: Bool = false,
        _ change: @Sendable (inout CachedHead) -> [UInt8]?
    ) async {
        guard let url = try? request.wire.get().text else { return }
        guard var head = await lookUp(url, request.fields)?.head else { return invalidate(url) }
        if let fields {
            // If this is unclear, all are removed: the caller wanted the response changed.
            guard let isSame = head.isOf(CacheRules.stored(fields)) else { return invalidate(url) }
            guard isSame else { return }
        }
        guard let content = change(&head) else { return invalidate(url) }
        store(head, content, inMemoryOnly: inMemoryOnly)
    }

    /// The stored response for a request, read on the calling thread, which may have to wait for
    /// the disk.
    package func storedNow(
        for request: ClientRequest
    ) -> (head: CachedHead, content: [UInt8])? {
        guard let url = try? request.wire.get().text else { return nil }
        // A session that does not decode content sends requests without Accept-Encoding.
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

    /// Stores a response as if it had just answered a request. It will answer requests
    /// with the same values of the fields that its `Vary` names. A response with `Vary: *` answers
    /// no request, and is not stored.
    /// - Parameter inMemoryOnly: whether nothing is written to the disk, and the responses for the
    ///   URL are removed there.
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
    /// Whether this head belongs to the response with these stored fields, and not to one that has
    /// replaced it; nil if the fields do not decide that.
    fileprivate func isOf(_ stored: HTTPFields) -> Bool? {
        guard stored[.eTag].hasBytes(of: fields[.eTag]),
            stored[.lastModified].hasBytes(of: fields[.lastModified])
        else { return false }
        if stored.contains(.eTag) || stored[.date].hasBytes(of: fields[.date]) { return true }
        // With a validator, the new date may be that of a 304 for the same response.
        return stored.contains(.lastModified) ? nil : false
    }
}

extension ClientRequest {
    /// The fields that a session with the default configuration sends: it adds the codings that it
    /// decodes.
    fileprivate var askedFields: HTTPFields {
        var asked = fields
        if decodesContent ?? true, !asked.contains(.acceptEncoding), !asked.contains(.range) {
            asked.append(.acceptEncoding, TakenCoding.accepted)
        }
        return asked
    }
}
