#if FoundationNetworking
    public import Foundation
    internal import HTTPCodecs
    internal import HTTPParser
    internal import ToolkitSystem
    internal import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // The async functions, with the names of URLSession's. Cancelling the calling Swift task
    // cancels the transfer.
    extension ClientURLSession {
        /// Collects the content of the response.
        public func data(
            for request: URLRequest, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(delegate) { self.dataTask(with: request, completionHandler: $0) }
        }

        /// Collects the content of the response.
        public func data(
            from url: URL, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(delegate) { self.dataTask(with: url, completionHandler: $0) }
        }

        /// Sends content from memory, and collects the content of the response.
        public func upload(
            for request: URLRequest, from bodyData: Data,
            delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(delegate) {
                self.uploadTask(with: request, from: bodyData, completionHandler: $0)
            }
        }

        /// Sends a file, and gives the content of the response.
        public func upload(
            for request: URLRequest, fromFile fileURL: URL,
            delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(delegate) {
                self.uploadTask(with: request, fromFile: fileURL, completionHandler: $0)
            }
        }

        /// Writes the content to a temporary file, which the caller has to remove.
        public func download(
            for request: URLRequest, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (URL, URLResponse) {
            try await file(delegate) { self.downloadTask(with: request, completionHandler: $0) }
        }

        /// Writes the content to a temporary file, which the caller has to remove.
        public func download(
            from url: URL, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (URL, URLResponse) {
            try await file(delegate) { self.downloadTask(with: url, completionHandler: $0) }
        }

        /// Resumes a download to a temporary file, which the caller has to remove.
        public func download(
            resumeFrom resumeData: Data, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (URL, URLResponse) {
            try await file(delegate) {
                self.downloadTask(withResumeData: resumeData, completionHandler: $0)
            }
        }

        /// Returns the content as it arrives, by bytes or by lines.
        public func bytes(
            for request: URLRequest, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (AsyncBytes, URLResponse) {
            try await bytes(ClientRequest(request), delegate)
        }

        /// Returns the content as it arrives, by bytes or by lines.
        public func bytes(
            from url: URL, delegate: (any ClientURLSessionTaskDelegate)? = nil
        ) async throws -> (AsyncBytes, URLResponse) {
            try await bytes(ClientRequest(.get, url), delegate)
        }

        private func bytes(
            _ request: ClientRequest, _ delegate: (any ClientURLSessionTaskDelegate)?
        ) async throws -> (AsyncBytes, URLResponse) {
            do throws(ClientError) {
                let own = delegate.map { DelegateBridge($0, on: delegateQueue, of: self) }
                let (content, response) = try await client.bytes(for: request, delegate: own)
                return (AsyncBytes(content, self), response.urlResponse)
            } catch {
                throw error.sessionError
            }
        }

        private func result<Task: ClientURLSessionTask>(
            _ delegate: (any ClientURLSessionTaskDelegate)?,
            _ make: (@escaping DataCompletion) -> Task
        ) async throws -> (Data, URLResponse) {
            try await outcome(delegate) { done in
                make { content, response, error in
                    done(Self.result(content, response, error))
                }
            }
        }

        private func file(
            _ delegate: (any ClientURLSessionTaskDelegate)?,
            _ make: (@escaping DownloadCompletion) -> ClientURLSessionDownloadTask
        ) async throws -> (URL, URLResponse) {
            try await outcome(delegate) { done in
                make { file, response, error in
                    done(Self.result(file, response, error).flatMap(Self.keepingFile))
                }
            }
        }

        /// The file is removed when the completion handler returns, so it is moved first.
        private static func keepingFile(
            _ found: (URL, URLResponse)
        ) -> Result<(URL, URLResponse), any Error> {
            let name = "\(UUID().uuidString).download"
            let kept = FileManager.default.temporaryDirectory.appendingPathComponent(name)
            return Result {
                try FileManager.default.moveItem(at: found.0, to: kept)
                return (kept, found.1)
            }
        }

        private static func result<Value>(
            _ value: Value?, _ response: URLResponse?, _ error: (any Error)?
        ) -> Result<(Value, URLResponse), any Error> {
            guard let value, let response else {
                return .failure(error ?? URLError(.unknown))
            }
            return .success((value, response))
        }

        private func outcome<Value: Sendable, Task: ClientURLSessionTask>(
            _ delegate: (any ClientURLSessionTaskDelegate)?,
            _ make: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Task
        ) async throws -> Value {
            let running = Locked<Task?>(nil)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let task = make { continuation.resume(with: $0) }
                    task.delegate = delegate
                    running.withLock { $0 = task }
                    // Nothing is sent if the calling Swift task is already cancelled.
                    if !_Concurrency.Task.isCancelled { task.resume() }
                    // The handler below may have run before it could see the task.
                    if _Concurrency.Task.isCancelled { task.cancel() }
                }
            } onCancel: {
                running.withLock { $0 }?.cancel()
            }
        }
    }
#endif
