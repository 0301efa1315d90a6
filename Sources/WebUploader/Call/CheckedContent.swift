internal import HTTPServerCore
internal import WebDAVKit

extension UploaderCall {
    /// The content. Where the client has sent a hash of it (`Repr-Digest`, RFC 9530), reading other
    /// content throws at its end, so that none of it becomes a file.
    /// - Throws: `WebDAVError` with 400 for a hash that cannot be one.
    func checkedContent() throws -> RequestBody {
        guard let checks = try RunningChecks.of(request) else { return request.body }
        let body = request.body.observed(checks.update)
        return .pieces {
            var iterator = body.makeAsyncIterator()
            let piece = try await iterator.next()
            if piece == nil { try Self.compare(checks) }
            return piece
        }
    }

    private static func compare(_ checks: RunningChecks) throws(UploaderError) {
        do {
            try checks.finish()
        } catch {
            throw UploaderError(error.status, .digest, error.reason)
        }
    }
}
