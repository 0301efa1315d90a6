public import HTTPParser

extension Request {
    /// Sends an interim response ahead of the final one: 103 with links that the client may begin
    /// to load (RFC 8297), or 102 while an answer takes long.
    ///
    /// ```swift
    /// try await request.sendInterim(.earlyHints, fields: [.link: "</app.css>; rel=preload"])
    /// ```
    ///
    /// Nothing is sent to an HTTP/1.0 client, which knows no interim responses (RFC 9110 section
    /// 15.2), to a client that has disconnected, or once the final response has begun.
    /// - Parameters:
    ///   - status: from 102 to 199. The server itself sends 100 when content is requested, and 101
    ///     would end HTTP on the connection.
    ///   - fields: the fields, in order.
    /// - Throws: an error for an invalid field; nothing is sent then.
    public func sendInterim(
        _ status: HTTPStatus, fields: HTTPFields = HTTPFields()
    ) async throws {
        precondition((102...199).contains(status.code), "an interim status is from 102 to 199")
        let loop = storage.connection.loop
        try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Void, any Error>) in
            let send: @Sendable () -> Void = {
                continuation.resume(
                    with: Result { try openConnection?.sendInterim(status, fields) ?? () })
            }
            loop.isFree ? send() : loop.execute(send)
        }
    }
}

extension Connection {
    fileprivate func sendInterim(
        _ status: HTTPStatus, _ fields: HTTPFields
    ) throws(HTTPMessageError) {
        guard unsafe state.takesInterim else { return }
        unsafe try response?.serializer.interim(status, fields: fields, into: &loop.sendBuffer)
        flush()
    }
}
