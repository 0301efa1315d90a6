#if FoundationNetworking
    internal import Foundation
    internal import HTTPCodecs
    internal import HTTPParser
    internal import ToolkitSystem
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    /// Hands what the client tells to a delegate with the names of URLSession's.
    ///
    /// The client calls it on a serial queue. It waits there for each call of the delegate, so that
    /// calls keep their order and a slow delegate holds the connection.
    final class DelegateBridge: ClientSessionDelegate, @unchecked Sendable {
        private struct Values {
            var delegate: (any ClientURLSessionDelegate)?
            /// The tasks that were resumed and have not ended.
            var tasks: [Int: ClientURLSessionTask] = [:]
            weak var session: ClientURLSession?
            /// Kept from the call that ends the session to its last call of the delegate.
            var ending: ClientURLSession?
            /// Whether that last call was made, or begins.
            var hasEnded = false
            /// Calls about tasks that follow once their stored responses are revised, in order.
            var revisions: [Int: [@Sendable () -> Void]] = [:]
            /// Whether the end of the session waits for them, too.
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
                // A data task that became a download stays out: the download has its place.
                if known is ClientURLSessionDownloadTask, task is ClientURLSessionDataTask {
                    return
                }
                values.tasks[task.taskIdentifier] = task
            }
        }

        /// Keeps a session until the delegate is notified of its end. That happens once: kept
        /// after it, the session would never be released.
        func keepSession(_ session: ClientURLSession) {
            values.withLock { values in
                guard !values.hasEnded else { return }
                values.ending = session
            }
        }

        // MARK: calling the delegate

        /// Calls on the delegate's queue, and waits.
        func call(_ body: @escaping @Sendable () -> Void) {
            queue.addOperations([BlockOperation(block: body)], waitUntilFinished: true)
        }

        /// Asks on the delegate's queue. The first answer counts.
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

        /// A task with its session and delegate; nil when there is no delegate of this kind. Calls
        /// that the task's own has no methods for go to the session's.
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
                // The content of `bytes(for:)` comes without a separate task. A task of a
                // session that takes no more is over before its own one is made.
                let task = ClientURLSessionDataTask(core, session, hasHandler: core.hasHandler)
                // As the task's own, the delegate of `bytes(for:)` hands on calls to the session's.
                if session.bridge !== self {
                    task.delegate = values.delegate as? any ClientURLSessionTaskDelegate
                }
                values.tasks[core.identifier] = task
                return (session, task)
            }
        }

        // MARK: after a revision

        /// Calls at once, or, while the delegate thinks about what of the task is stored, when it has
        /// answered. Other tasks go on.
        private func callInOrder(_ core: TransferTask, _ body: @escaping @Sendable () -> Void) {
            let waits = values.withLock { values in
                guard values.revisions[core.identifier] != nil else { return false }
                values.revisions[core.identifier]?.append(body)
                return true
            }
            if !waits { body() }
        }

        /// Makes up for the calls that have waited, and for those that come meanwhile.
        private func endRevision(of identifier: Int) {
            while let body = nextCall(of: identifier) { body() }
            let ends = values.withLock { values in
                guard values.endsAfterRevisions, values.revisions.isEmpty else { return false }
                values.endsAfterRevisions = false
                return true
            }
            if ends { notifyEnd() }
        }

        /// Takes the next call that has waited; with the last one the revision is over.
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

        /// Fails the task before anything is sent. Empty content could replace what the server has.
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
            // URLSession asks about the cache before it tells what the task took.
            if core.error == nil { reviseStored(core) }
            callInOrder(core) { self.tell(core, metrics) }
        }

        private func tell(_ core: TransferTask, _ metrics: ClientMetrics) {
            typealias Kind = any ClientURLSessionTaskDelegate
            guard let (session, task, delegate) = listener(of: core, as: Kind.self) else { return }
            let shown = ClientURLSessionTaskMetrics(metrics)
            call { delegate.urlSession(session, task: task, didFinishCollecting: shown) }
        }

        func task(_ core: TransferTask, didCompleteWith error: ClientError?) {
            callInOrder(core) { self.tellCompletion(core, error) }
        }

        private func tellCompletion(_ core: TransferTask, _ error: ClientError?) {
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
            // The old one gets no more calls.
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
            // The content of a task with a handler does not pass here: there is nothing to show.
            if let (_, task, _) = listener(of: core, as: (any ClientURLSessionDataDelegate).self),
                !task.hasHandler
            {
                task.beginStorable()
            }
            return true
        }

        /// Lets the delegate change or remove what was stored. The client asks before there is
        /// content, and URLSession behind it. The delegate may think as long as a server may say
        /// nothing; without an answer nothing is stored.
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
            let timeouts = core.originalRequest.timeouts ?? session.client.configuration.timeouts
            let limit = timeouts.idle
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
                // The calls wait for the delegate, and need a thread for that, which no task shares.
                DispatchQueue(label: "http.revision").async { self.endRevision(of: identifier) }
            }
        }

        /// Calls after a while, unless it is cancelled.
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
