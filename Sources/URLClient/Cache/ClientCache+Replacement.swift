internal import HTTPParser

extension ClientCache {
    /// Replaces what is stored for a request. Where nothing is found for it, all that is stored for
    /// its URL is removed: what was stored for a user is not found by the fields of the request, and
    /// must not stay as it was.
    /// - Parameter change: changes the head, and gives the content.
    package func replaceStored(
        for request: ClientRequest, _ change: @Sendable (inout CachedHead) -> [UInt8]
    ) async {
        guard let url = try? request.wire.get().text else { return }
        guard var head = await find(url, request.fields)?.head else { return invalidate(url) }
        let content = change(&head)
        keep(head, content)
    }
}
