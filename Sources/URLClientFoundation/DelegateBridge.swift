#if FoundationNetworking
    internal import Foundation
    internal import HTTPCodecs
    internal import HTTPParser
    internal import ToolkitSystem
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// Forwards the client's events to a delegate whose methods have URLSession's names.
    ///
    /// The client calls it on a serial queue. There it waits for each call of the delegate, so that
    /// calls keep their order and a slow delegate slows the connection down.
    final class DelegateBridge: ClientSessionDelegate, @unchecked Sendable {
        private struct Values {
            var delegate: (any ClientURLSessionDelegate)?
            /// The tasks that were resumed and have not ended.
            var tasks: [Int: ClientURLSessionTask] = [:]
            weak var session: ClientURLSession?
            /// Retains the session from its invalidation until the last call of the delegate.
            var ending: ClientURLSession?
            /// Whether the last call of the delegate has begun.
            var hasEnded = false
            /// For each task whose stored response the delegate is revising, the pending calls in
            /// order.
            var revisions: [Int: [@Sendable () -> Void]] = [:]
            /// Whether the end of the session waits for the revisions, too.
            var endsAfterRevisions = false
        }

        private let values: Locked<Values>
        private let queue: OperationQueue

        init(
            _ delegate: (any ClientURLSessionDelegate)?, on queue: OperationQueue,
            of session: ClientURLSession? = nil
        ) {
            values = Locked(Values(delegate: delegate, session: session))
            self.queue = queue
        }

        var delegate: (any ClientURLSessionDelegate)? { values.withLock { $0.delegate } }
        var session: ClientURLSession? {
            get { values.withLock { $0.session } }
            set { values.withLock { $0.session = newValue } }
        }
        var tasks: [ClientURLSessionTask] {
            values.withLock { $0.tasks.values.sorted { $0.taskIdentifier < $1.taskIdentifier } }
        }

        func add(_ task: ClientURLSessionTask) {
            values.withLock { values in
                guard task.core.state != .completed else { return }
                let known = values.tasks[task.taskIdentifier]
                // A data task that became a download must not replace the download.
                if known is ClientURLSessionDownloadTask, task is ClientURLSessionDataTask {
                    return
                }
                values.tasks[task.taskIdentifier] = task
            }
        }

        /// Retains a session until the delegate is notified of its end. After that notification
        /// nothing is retained: the session would never be released.
        func keepSession(_ session: ClientURLSession) {
            values.withLock { values in
                guard !values.hasEnded else { return }
                values.ending = session
            }
        }

        // MARK: calling the delegate

        /// Calls `body` on the delegate's queue, and waits until it returns.
        func call(_ body: @escaping @Sendable () -> Void) {
            queue.addOperations([BlockOperation(block: body)], waitUntilFinished: true)
        }

        /// Asks the delegate on its queue. Only the first answer counts.
        private func ask<Answer>(
            _ question: @escaping @Sendable (@escaping @Sendable (Answer) -> Void) -> Void
        ) async -> Answer {
            let box = await withCheckedContinuation {
                (continuation: CheckedContinuation<Unchecked<Answer>, Never>) in
                let isAnswered = Locked(false)
                queue.addOperation {
                    question { answer in
                        let isFirst = isAnswered.withLock { isAnswered in
                            defer { isAnswered = true }
                            return !isAnswered
                        }
                        if isFirst { continuation.resume(returning: Unchecked(value: answer)) }
                    }
                }
            }
            return box.value
        }

        /// A task with its session and its delegate of this kind: the task's own or else the
        /// session's. Nil if neither is of this kind.
        func listener<Delegate>(
            of core: TransferTask, as kind: Delegate.Type
        ) -> (ClientURLSession, ClientURLSessionTask, Delegate)? {
            guard let (session, task) = known(core) else { return nil }
            let own = task.delegate as? Delegate
            guard let delegate = own ?? (self.delegate as? Delegate) else { return nil }
            return (session, task, delegate)
        }

        func known(_ core: TransferTask) -> (ClientURLSession, ClientURLSessionTask)? {
            values.withLock { values in
                guard let session = values.session ?? values.ending else { return nil }
                if let task = values.tasks[core.identifier] { return (session, task) }
                // `bytes(for:)` creates no task of this module, and in an invalidated session a
                // task ends before it is added.
                let task = ClientURLSessionDataTask(core, session, hasHandler: core.hasHandler)
                // The delegate of `bytes(for:)` becomes the task's own delegate, and can thus pass
                // calls on to the session's.
                if session.bridge !== self {
                    task.delegate = values.delegate as? any ClientURLSessionTaskDelegate
                }
                values.tasks[core.identifier] = task
                return (session, task)
            }
        }

        // MARK: after a revision

        /// Calls `body` immediately. While the delegate revises the task's stored response, the
        /// call waits, in order; calls of other tasks do not.
        private func callInOrder(_ core: TransferTask, _ body: @escaping @Sendable () -> Void) {
            let waits = values.withLock { values in
                guard values.revisions[core.identifier] != nil else { return false }
                values.revisions[core.identifier]?.append(body)
                return true
            }
            if !waits { body() }
        }

        /// Makes the pending calls, and calls that are added meanwhile.
        private func endRevision(of identifier: Int) {
            while let body = nextCall(of: identifier) { body() }
            let ends = values.withLock { values in
                guard values.endsAfterRevisions, values.revisions.isEmpty else { return false }
                values.endsAfterRevisions = false
                return true
            }
            if ends { notifyEnd() }
        }

        /// Takes the next pending call. Without one, the revision is over.
        private func nextCall(of identifier: Int) -> (@Sendable () -> Void)? {
            values.withLock { values in
                guard var calls = values.revisions[identifier], !calls.isEmpty else {
                    values.revisions[identifier] = nil
                    return nil
                }
                let next = calls.removeFirst()
                values.revisions[identifier] = calls
                return next
            }
        }

        // MARK: the session

        func sessionDidBecomeInvalid() {
            let waits = values.withLock { values in
                values.endsAfterRevisions = !values.revisions.isEmpty
                return values.endsAfterRevisions
            }
            if !waits { notifyEnd() }
        }

        private func notifyEnd() {
            let (session, delegate) = values.withLock { values in
                defer { (values.ending, values.delegate) = (nil, nil) }
                values.hasEnded = true
                return (values.session ?? values.ending, values.delegate)
            }
            guard let session, let delegate else { return }
            call { delegate.urlSession(session, didBecomeInvalidWithError: nil) }
        }

        // MARK: the task

        func task(
            _ core: TransferTask, willRedirectTo request: ClientRequest,
            from response: ClientResponse
        ) async -> ClientRequest? {
            typealias Kind = any ClientURLSessionTaskDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let head = response.urlResponse as? HTTPURLResponse
            else { return request }
            let shown = URLRequest(request)
            let wanted: URLRequest? = await ask { done in
                delegate.urlSession(
                    session, task: task, willPerformHTTPRedirection: head, newRequest: shown,
                    completionHandler: done)
            }
            return wanted.map { request.changed(from: shown, to: $0) }
        }

        func task(
            _ core: TransferTask, didReceiveChallenge challenge: ClientChallenge
        ) async -> ChallengeAnswer {
            let shown = Unchecked(value: URLAuthenticationChallenge(challenge))
            let answer: (ClientURLSession.AuthChallengeDisposition, URLCredential?)
            if let (session, task, delegate) = listener(
                of: core, as: (any ClientURLSessionTaskDelegate).self)
            {
                answer = await ask { done in
                    delegate.urlSession(session, task: task, didReceive: shown.value) {
                        done(($0, $1))
                    }
                }
            } else if let (session, _, delegate) = listener(
                of: core, as: (any ClientURLSessionDelegate).self)
            {
                answer = await ask { done in
                    delegate.urlSession(session, didReceive: shown.value) { done(($0, $1)) }
                }
            } else {
                return .useProposed
            }
            return ChallengeAnswer(answer.0, answer.1)
        }

        func taskNeedsNewBody(_ core: TransferTask) async -> ClientBody {
            typealias Kind = any ClientURLSessionTaskDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self) else {
                return Self.missingBody
            }
            let stream: InputStream? = await ask { done in
                delegate.urlSession(session, task: task, needNewBodyStream: done)
            }
            guard let stream else { return Self.missingBody }
            var request = URLRequest(url: core.currentRequest.url)
            request.httpBodyStream = stream
            return ClientRequest(request).body
        }

        /// Fails the task before anything is sent. Empty content could replace the server's
        /// resource.
        private static var missingBody: ClientBody {
            let make: @Sendable () async throws -> AsyncStream<[UInt8]> = {
                throw ClientError(.bodyFailed, "the delegate gave no stream")
            }
            return .replayable(make)
        }

        func task(_ core: TransferTask, didSend progress: TransferProgress) {
            guard let (_, shown) = known(core) else { return }
            shown.showProgress()
            typealias Kind = any ClientURLSessionTaskDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self) else { return }
            let count = task.newlySent(progress.sent)
            call {
                delegate.urlSession(
                    session, task: task, didSendBodyData: count, totalBytesSent: progress.sent,
                    totalBytesExpectedToSend: progress.expectedToSend ?? -1)
            }
        }

        func task(_ core: TransferTask, didCollect metrics: ClientMetrics) {
            // URLSession asks about the cache before it reports metrics.
            if core.error == nil { reviseStored(core) }
            callInOrder(core) { self.notifyMetrics(core, metrics) }
        }

        private func notifyMetrics(_ core: TransferTask, _ metrics: ClientMetrics) {
            typealias Kind = any ClientURLSessionTaskDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self) else { return }
            let shown = ClientURLSessionTaskMetrics(metrics)
            call { delegate.urlSession(session, task: task, didFinishCollecting: shown) }
        }

        func task(_ core: TransferTask, didCompleteWith error: ClientError?) {
            callInOrder(core) { self.notifyCompletion(core, error) }
        }

        private func notifyCompletion(_ core: TransferTask, _ error: ClientError?) {
            let shown = known(core)?.1
            shown?.showEnd()
            let found = listener(of: core, as: (any ClientURLSessionTaskDelegate).self)
            values.withLock { _ = $0.tasks.removeValue(forKey: core.identifier) }
            // As with URLSession, a task that the program keeps does not keep its delegate.
            defer { shown?.delegate = nil }
            guard let (session, task, delegate) = found, !task.hasHandler else { return }
            let failure = error?.sessionError
            call { delegate.urlSession(session, task: task, didCompleteWithError: failure) }
        }

        // MARK: data

        func task(
            _ core: TransferTask, didReceiveResponse response: ClientResponse
        ) async -> ResponseDisposition {
            typealias Kind = any ClientURLSessionDataDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let dataTask = task as? ClientURLSessionDataTask
            else { return .allow }
            let head = response.urlResponse
            let answer: ClientURLSession.ResponseDisposition = await ask { done in
                delegate.urlSession(
                    session, dataTask: dataTask, didReceive: head, completionHandler: done)
            }
            switch answer {
            case .cancel: return .cancel
            case .allow: return .allow
            case .becomeDownload: return .becomeDownload(path: nil)
            }
        }

        func task(_ core: TransferTask, didBecome download: DownloadTask) {
            guard let (session, old) = known(core) else { return }
            let task = ClientURLSessionDownloadTask(download, session)
            task.delegate = old.delegate
            values.withLock { $0.tasks[core.identifier] = task }
            // The data task gets no more calls.
            defer { old.delegate = nil }
            typealias Kind = any ClientURLSessionDataDelegate
            guard let delegate = (old.delegate as? Kind) ?? (self.delegate as? Kind),
                let dataTask = old as? ClientURLSessionDataTask
            else { return }
            call { delegate.urlSession(session, dataTask: dataTask, didBecome: task) }
        }

        func task(_ core: TransferTask, didReceiveContent content: [UInt8]) {
            typealias Kind = any ClientURLSessionDataDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let dataTask = task as? ClientURLSessionDataTask
            else { return }
            task.addStorable(content)
            task.showProgress()
            let data = Data(content)
            call { delegate.urlSession(session, dataTask: dataTask, didReceive: data) }
        }

        func task(_ core: TransferTask, willStore response: ClientResponse) async -> Bool {
            // The content of a task with a handler does not pass through here, so it cannot be
            // shown to the delegate.
            if let (_, task, _) = listener(of: core, as: (any ClientURLSessionDataDelegate).self),
                !task.hasHandler
            {
                task.beginStorable()
            }
            return true
        }

        /// Lets the delegate change or remove the stored response. The client asks before the
        /// content arrives, URLSession after it. If the delegate does not answer within the idle
        /// timeout, the stored response is removed.
        private func reviseStored(_ core: TransferTask) {
            typealias Kind = any ClientURLSessionDataDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self),
                let dataTask = task as? ClientURLSessionDataTask,
                let data = task.takeStorable(), let response = core.response,
                let cache = session.client.configuration.cache
            else { return }
            let proposed = Unchecked(
                value: CachedURLResponse(response: response.urlResponse, data: data))
            let request = core.currentRequest
            let limit = core.originalRequest.timeouts(in: session.client.configuration).idle
            let identifier = core.identifier
            values.withLock { $0.revisions[identifier] = [] }
            Task {
                let wanted: CachedURLResponse? = await ask { done in
                    let clock = Self.limit(limit) { done(nil) }
                    delegate.urlSession(
                        session, dataTask: dataTask, willCacheResponse: proposed.value
                    ) {
                        done($0)
                        clock?.cancel()
                    }
                }
                await cache.revise(request, of: response, from: proposed.value, to: wanted)
                // The calls block until the delegate returns, so they need a thread that is not
                // shared with tasks.
                DispatchQueue(label: "http.revision").async { self.endRevision(of: identifier) }
            }
        }

        /// Calls `body` after `time`, unless the returned task is cancelled; never if `time` is
        /// nil.
        private static func limit(
            _ time: Duration?, _ body: @escaping @Sendable () -> Void
        ) -> Task<Void, Never>? {
            time.map { time in
                Task {
                    guard (try? await Task.sleep(for: time)) != nil else { return }
                    body()
                }
            }
        }
    }
#endif
