internal import HTTPParser
internal import ToolkitSystem

// Tasks in the shape of NSURLSession: with a delegate, or with a completion handler.
extension ClientSession {
    /// Receives the content, the response and the error of a task, on the delegate's queue.
    public typealias DataCompletion =
        @Sendable (_ content: [UInt8], _ response: ClientResponse?, _ error: ClientError?) -> Void

    /// Receives the path of the file, the response and the error of a download, on the delegate's
    /// queue. A download without a destination has a temporary file, which is removed when the
    /// handler returns.
    public typealias DownloadCompletion =
        @Sendable (_ path: String?, _ response: ClientResponse?, _ error: ClientError?) -> Void

    /// Creates a task whose content goes to the delegate.
    /// - Parameters:
    ///   - request: the request.
    ///   - delegate: receives the events of this task in place of the session's delegate.
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

    /// Creates a task that sends content; the response goes to the delegate.
    /// - Parameters:
    ///   - request: the request; `body` replaces its body.
    ///   - body: the content to send; nil to ask the delegate for it, by
    ///     ``ClientSessionDelegate/taskNeedsNewBody(_:)``.
    ///   - delegate: receives the events of this task in place of the session's delegate.
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

    /// Creates a task that sends content, and collects the content of the response for a completion
    /// handler.
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
    ///   - request: the request.
    ///   - path: the path of the file, which replaces an existing file if the status is 2xx. With
    ///     any other status the task fails with ``ClientError/Kind/unexpectedStatus``, and an
    ///     existing file stays unchanged. Nil for a temporary file, which takes the content of any
    ///     response.
    ///   - delegate: receives the events of this task in place of the session's delegate.
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

    /// Creates a task that resumes the download of another task, and calls a completion handler.
    /// - Parameters:
    ///   - data: the other task's resume data.
    ///   - request: the other task's request, as in
    ///     ``downloadTask(resuming:request:to:delegate:)``.
    ///   - path: the path of the file; nil for a temporary file.
    ///   - completion: receives the file.
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
                if path == nil, let file { Syscalls.removeFile(file) }
            }
        }
    }

    /// Creates a task that resumes the download of another task if the content is still the same,
    /// and otherwise starts again.
    /// - Parameters:
    ///   - data: the other task's resume data.
    ///   - request: the other task's request. It is sent to its own URL, so that no other server
    ///     gets its credentials. Nil for a plain GET of the URL in `data`.
    ///   - path: the path of the file; nil for a temporary file. Keep the partial file on the same file
    ///     system: otherwise the whole file is copied at the end, while other tasks of the session wait.
    ///   - delegate: receives the events of this task in place of the session's delegate.
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
    /// Content that the delegate makes each time it is sent. Its length is the request's
    /// Content-Length.
    static func delegated(_ events: TaskEvents?, for request: ClientRequest) -> ClientBody {
        guard let events else { return .none }
        return ClientBody(
            .stream(
                length: request.fields[.contentLength].flatMap { FieldValues.parseDecimal($0) },
                isReplayable: true,
                make: { try await events.needsNewBody().pull() }),
            mediaType: nil)
    }

    /// The content in pieces; nil if it cannot be sent again.
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
    /// The next piece of a file, at most 64 KiB; nil at the end.
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
