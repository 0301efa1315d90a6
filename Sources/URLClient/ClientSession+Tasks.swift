internal import HTTPParser

// Tasks in the shape of NSURLSession: with a delegate, or with a completion handler.
extension ClientSession {
    /// Is given the content, the response and the error of a task, on the delegate's queue.
    public typealias DataCompletion =
        @Sendable (_ content: [UInt8], _ response: ClientResponse?, _ error: ClientError?) -> Void

    /// Is given the path of the file, the response and the error of a download, on the delegate's
    /// queue. A file for which no destination was given is removed when the handler returns.
    public typealias DownloadCompletion =
        @Sendable (_ path: String?, _ response: ClientResponse?, _ error: ClientError?) -> Void

    /// Creates a task whose content goes to the delegate.
    /// - Parameters:
    ///   - request: what to ask for.
    ///   - delegate: is notified of this task in place of the session's.
    public func dataTask(
        for request: ClientRequest, delegate: (any ClientSessionDelegate)? = nil
    ) -> DataTask {
        let events = events(delegate)
        return adopt(
            DataTask(
                nextIdentifier(), request, loop, events: events, wantsMetrics: true,
                completion: nil), sink(for: events))
    }

    /// Creates a task whose content is collected for a completion handler.
    public func dataTask(
        for request: ClientRequest, completion: @escaping DataCompletion
    ) -> DataTask {
        adopt(
            DataTask(
                nextIdentifier(), request, loop, events: events(nil), wantsMetrics: true,
                completion: handled(completion)), collectingSink, hasHandler: true)
    }

    /// Creates a task that sends content; what comes back goes to the delegate.
    /// - Parameters:
    ///   - request: where to, and how; its body is replaced.
    ///   - body: the content; nil to have the delegate make it, by
    ///     ``ClientSessionDelegate/taskNeedsNewBody(_:)``.
    ///   - delegate: is notified of this task in place of the session's.
    public func uploadTask(
        for request: ClientRequest, from body: ClientBody?,
        delegate: (any ClientSessionDelegate)? = nil
    ) -> UploadTask {
        let events = events(delegate)
        var request = request
        request.body = body ?? .delegated(events, for: request)
        return adopt(
            UploadTask(
                nextIdentifier(), request, loop, events: events, wantsMetrics: true,
                completion: nil), sink(for: events))
    }

    /// Creates a task that sends content; what comes back is collected for a completion handler.
    public func uploadTask(
        for request: ClientRequest, from body: ClientBody, completion: @escaping DataCompletion
    ) -> UploadTask {
        var request = request
        request.body = body
        return adopt(
            UploadTask(
                nextIdentifier(), request, loop, events: events(nil), wantsMetrics: true,
                completion: handled(completion)), collectingSink, hasHandler: true)
    }

    /// Creates a task that writes content to a file.
    /// - Parameters:
    ///   - request: what to ask for.
    ///   - path: where the file will be, replacing one that is there, if the status is 2xx: with any
    ///     other the task fails by ``ClientError/Kind/unexpectedStatus``, and what is there stays. nil for
    ///     a temporary file, which holds the content of any response.
    ///   - delegate: is notified of this task in place of the session's.
    public func downloadTask(
        for request: ClientRequest, to path: String? = nil,
        delegate: (any ClientSessionDelegate)? = nil
    ) -> DownloadTask {
        download(request, to: path, resuming: nil, events(delegate), nil)
    }

    /// Creates a task that writes content to a file and calls a completion handler.
    public func downloadTask(
        for request: ClientRequest, to path: String? = nil,
        completion: @escaping DownloadCompletion
    ) -> DownloadTask {
        download(request, to: path, resuming: nil, completion)
    }

    /// Creates a task that resumes the download of another, and calls a completion handler.
    /// - Parameters:
    ///   - data: the resume data of the other task.
    ///   - request: the request of the other, as in ``downloadTask(resuming:request:to:delegate:)``.
    ///   - path: where the file will be; nil for a temporary file.
    ///   - completion: is given the file.
    public func downloadTask(
        resuming data: ResumeData, request: ClientRequest? = nil, to path: String? = nil,
        completion: @escaping DownloadCompletion
    ) -> DownloadTask {
        let request = (request ?? ClientRequest(.get, data.url)).askingForRest(of: data)
        return download(request, to: path, resuming: data, completion)
    }

    private func download(
        _ request: ClientRequest, to path: String?, resuming data: ResumeData?,
        _ completion: @escaping DownloadCompletion
    ) -> DownloadTask {
        let queue = delegateQueue
        return download(request, to: path, resuming: data, eventsBesideContent) { task, _ in
            queue.send {
                let file = (task as? DownloadTask)?.path
                completion(task.error == nil ? file : nil, task.response, task.error)
                if path == nil, let file { System.remove(file) }
            }
        }
    }

    /// Creates a task that goes on where another has stopped, if the content is still the same;
    /// it begins again otherwise.
    /// - Parameters:
    ///   - data: what the other has left.
    ///   - request: the request of the other, sent again to its own URL, so that its credentials go
    ///     nowhere else; nil for a plain GET of the URL in `data`.
    ///   - path: where the file will be.
    ///   - delegate: is notified of this task in place of the session's.
    public func downloadTask(
        resuming data: ResumeData, request: ClientRequest? = nil, to path: String? = nil,
        delegate: (any ClientSessionDelegate)? = nil
    ) -> DownloadTask {
        let request = (request ?? ClientRequest(.get, data.url)).askingForRest(of: data)
        return download(request, to: path, resuming: data, events(delegate), nil)
    }

    func download(
        _ request: ClientRequest, to path: String?, resuming data: ResumeData?,
        _ events: TaskEvents?, _ completion: TransferTask.Completion?,
        requiresSuccess: Bool = true, isPrivate: Bool = false
    ) -> DownloadTask {
        let sink = FileSink(to: path, resuming: data)
        sink.requiresSuccess = requiresSuccess && path != nil
        if isPrivate { sink.isPrivate = true }
        // Tasks with a completion handler do not ask the delegate.
        sink.isDecided = completion != nil || events?.notifiesContent == false
        let task = DownloadTask(
            nextIdentifier(), request, loop, sink, isTemporary: path == nil && completion == nil,
            events: events, completion: completion)
        return adopt(task, sink, hasHandler: completion != nil)
    }

    private func sink(for events: TaskEvents?) -> ContentSink {
        guard let events else { return ContentSink() }
        return DelegateSink(events, limit: configuration.receiveBuffer, loop: loop)
    }

    var collectingSink: ContentSink { CollectingSink(limit: configuration.collectLimit) }

    private func handled(_ completion: @escaping DataCompletion) -> TransferTask.Completion {
        let queue = delegateQueue
        return { task, content in
            queue.send { completion(content, task.response, task.error) }
        }
    }
}

extension ClientBody {
    /// Content that the delegate makes each time that it is sent; as long as the request says.
    static func delegated(_ events: TaskEvents?, for request: ClientRequest) -> ClientBody {
        guard let events else { return .none }
        return ClientBody(
            .stream(
                length: request.fields[.contentLength].flatMap { FieldValues.parseDecimal($0) },
                isReplayable: true,
                make: { try await events.needsNewBody().pull() }),
            mediaType: nil)
    }

    /// The content in pieces.
    func pull() async throws -> Pull? {
        switch content {
        case .none: return { nil }
        case .bytes(let bytes):
            let once = OnceFlag()
            return { once.take() ? bytes : nil }
        case .stream(_, _, let make): return try await make()
        case .file(let path, let offset, let count):
            let source = try UploadSource(path: path, offset: offset, count: count)
            try source.begin {}
            return { try source.nextPiece() }
        }
    }
}

extension UploadSource {
    /// The next piece of a file for those who want it as an array.
    fileprivate func nextPiece() throws -> [UInt8]? {
        guard !isAtEnd else { return nil }
        var answer = Answer.failed
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, count in
            answer = unsafe read(into: UnsafeMutableRawBufferPointer(room))
            if case .bytes(let read) = answer { count = read }
        }
        if let failure { throw failure }
        return piece.isEmpty ? nil : piece
    }
}
