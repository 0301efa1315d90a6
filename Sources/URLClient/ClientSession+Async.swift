internal import HTTPCodecs

// The forms for async code: they start their task, and cancel it when their own task is cancelled.
extension ClientSession {
    /// Sends a request and collects the content of the response.
    ///
    /// A response with any status is returned. At most ``ClientConfiguration/collectLimit`` bytes
    /// are taken.
    /// - Parameters:
    ///   - request: what to ask for.
    ///   - delegate: is asked about redirects and told about progress, in place of the session's.
    /// - Returns: the content, content coding taken off, and the response.
    /// - Throws: why there is no whole response.
    public func data(
        for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> ([UInt8], ClientResponse) {
        let (identifier, events) = announce(delegate)
        return try await collect(
            DataTask(
                identifier, request, loop, events: events, wantsMetrics: events != nil,
                completion: nil))
    }

    /// Sends content and collects that of the response.
    /// - Parameters:
    ///   - request: where to, and how; its body is replaced.
    ///   - body: what to send.
    ///   - delegate: is asked about redirects and told about progress, in place of the session's.
    /// - Returns: the content, content coding taken off, and the response.
    /// - Throws: why there is no whole response.
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

    /// Sends a request and writes the content of the response to a file, which appears when it is
    /// whole and replaces one that is there.
    /// - Parameters:
    ///   - request: what to ask for.
    ///   - path: where the file will be.
    ///   - delegate: is asked about redirects and told about progress, in place of the session's.
    /// - Returns: the response.
    /// - Throws: why there is no file; ``ClientError/Kind/unexpectedStatus`` with the beginning of the
    ///   content when the status is not 2xx. A file that is there stays then.
    @discardableResult
    public func download(
        for request: ClientRequest, to path: String,
        delegate: (any ClientSessionDelegate)? = nil
    ) async throws(ClientError) -> ClientResponse {
        let told = delegate == nil ? eventsBesideContent : events(delegate)
        return try await download(request, to: path, resuming: nil, told, nil).finished()
    }

    /// Sends a request and reads the content of the response while it comes.
    /// - Parameters:
    ///   - request: what to ask for.
    ///   - delegate: is asked about redirects, in place of the session's.
    /// - Returns: the content, and the response, as soon as its head is there.
    /// - Throws: why there is no response.
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
