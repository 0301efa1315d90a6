internal import HTTPServerCore
internal import WebDAVKit

extension UploaderCall {
    /// The content of the request. If the client has sent its hash (`Repr-Digest`, RFC 9530), and
    /// the content does not match, reading throws at the end, so that no file is made of it.
    /// - Throws: `WebDAVError` with 400 for a malformed hash.
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
