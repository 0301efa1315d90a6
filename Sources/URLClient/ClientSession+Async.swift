internal import HTTPCodecs

// Functions for async code. They start a transfer, and cancel it when the calling Swift task is
// cancelled.
extension ClientSession {
    /// Sends a request and collects the content of the response.
    ///
    /// A response with any status is returned.
    /// - Parameters:
    ///   - request: the request.
    ///   - delegate: receives this call's events in place of the session's delegate. The content is
    ///     returned, and not sent to the delegate.
    /// - Returns: the decoded content, and the response.
    /// - Throws: the error that kept the response from being complete. Content that is longer than
    ///   ``ClientConfiguration/collectLimit`` throws ``ClientError/Kind/contentTooLong``.
    public func data(
        for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> ([UInt8], ClientResponse) {
        let (identifier, events) = announce(delegate)
        return try await collect(
            DataTask(
                identifier, request, loop, events: events, wantsMetrics: events != nil,
                completion: nil))
    }

    /// Sends content and collects the content of the response.
    ///
    /// A response with any status is returned.
    /// - Parameters:
    ///   - request: the request; `body` replaces its body.
    ///   - body: the content to send.
    ///   - delegate: receives this call's events in place of the session's delegate. The content is
    ///     returned, and not sent to the delegate.
    /// - Returns: the decoded content, and the response.
    /// - Throws: the error that kept the response from being complete. Content that is longer than
    ///   ``ClientConfiguration/collectLimit`` throws ``ClientError/Kind/contentTooLong``.
    @discardableResult
    public func upload(
        for request: ClientRequest, from body: ClientBody,
        delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> ([UInt8], ClientResponse) {
        var request = request
        request.body = body
        let (identifier, events) = announce(delegate)
        return try await collect(
            UploadTask(
                identifier, request, loop, events: events, wantsMetrics: events != nil,
                completion: nil))
    }

    /// Sends a request and writes the content of the response to a file.
    ///
    /// The file appears when it is complete, and replaces an existing file.
    /// - Parameters:
    ///   - request: the request.
    ///   - path: the path of the file.
    ///   - delegate: receives this call's events in place of the session's delegate.
    /// - Returns: the response.
    /// - Throws: the error that kept the file from being complete, such as
    ///   ``ClientError/Kind/unexpectedStatus``, with the beginning of the content, when the status
    ///   is not 2xx. An existing file then stays unchanged.
    @discardableResult
    public func download(
        for request: ClientRequest, to path: String,
        delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> ClientResponse {
        let events = delegate == nil ? eventsBesideContent : events(delegate)
        return try await download(request, to: path, resuming: nil, events, nil).finished()
    }

    /// Sends a request and returns the content of the response as a sequence, to be read while it
    /// arrives.
    /// - Parameters:
    ///   - request: the request.
    ///   - delegate: receives this call's events in place of the session's delegate. The content is
    ///     returned, and not sent to the delegate.
    /// - Returns: the content and the response, as soon as the response's head has arrived.
    /// - Throws: the error that kept the head from arriving. Later errors are thrown by the
    ///   content.
    public func bytes(
        for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> (ClientContent, ClientResponse) {
        let stream = ContentStream(limit: configuration.receiveBuffer)
        let task = adopt(
            DataTask(
                nextIdentifier(), request, loop, events: events(delegate), wantsMetrics: true,
                completion: { task, _ in
                    if let error = task.error { stream.finish(.failure(error)) }
                }), StreamSink(stream))
        if let runner = task.prepare() {
            let loop = loop
            stream.onPull { loop.inline.pull(runner, isHeld: $0) }
        }
        let content = ClientContent(reader: ContentReader(stream, task))
        task.startForWaiter()
        let head = await withTaskCancellationHandler {
            await stream.response()
        } onCancel: {
            task.cancel()
        }
        return (content, try head.get())
    }

    func collect(
        _ task: TransferTask
    ) async throws(ClientError) -> ([UInt8], ClientResponse) {
        adopt(task, collectingSink, keepsContent: true)
        task.startForWaiter()
        if !task.isOver {
            await withTaskCancellationHandler {
                await task.whenOver()
            } onCancel: {
                task.cancel()
            }
        }
        return try task.takeOutcome()
    }
}
