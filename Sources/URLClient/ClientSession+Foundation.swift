#if FoundationNetworking
    public import Foundation
    internal import HTTPParser

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // The calls of URLSession with its types. The session supplies values that a request does not
    // set.
    extension ClientSession {
        /// Sends a request and collects the content of the response.
        /// - Throws: `URLError`.
        public func data(
            for request: URLRequest, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(ClientRequest(request), delegate)
        }

        /// Fetches the content of a URL.
        /// - Throws: `URLError`.
        public func data(
            from url: URL, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(ClientRequest(.get, url), delegate)
        }

        /// Sends content and collects the content of the response.
        /// - Throws: `URLError`.
        public func upload(
            for request: URLRequest, from content: Data,
            delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(ClientRequest(request, sending: content), delegate)
        }

        /// Sends a file and collects the content of the response.
        /// - Throws: `URLError`.
        public func upload(
            for request: URLRequest, fromFile file: URL,
            delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (Data, URLResponse) {
            try await result(ClientRequest(request, sendingFile: file), delegate)
        }

        /// Creates a task that opens a WebSocket. The request's field Sec-WebSocket-Protocol offers
        /// subprotocols.
        public func webSocketTask(with request: URLRequest) -> WebSocketTask {
            webSocketTask(with: ClientRequest(request))
        }

        /// Sends a request and writes the content of the response to a temporary file, which the
        /// caller has to remove.
        /// - Throws: `URLError`.
        public func download(
            for request: URLRequest, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (URL, URLResponse) {
            try await file(ClientRequest(request), delegate)
        }

        /// Fetches the content of a URL into a temporary file, which the caller has to remove.
        /// - Throws: `URLError`.
        public func download(
            from url: URL, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (URL, URLResponse) {
            try await file(ClientRequest(.get, url), delegate)
        }

        /// Sends a request and returns the content of the response as a sequence, to be read while
        /// it arrives.
        /// - Throws: `URLError`; while the content is read, ``ClientError``.
        public func bytes(
            for request: URLRequest, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (ClientContent, URLResponse) {
            try await pieces(ClientRequest(request), delegate)
        }

        /// Fetches the content of a URL as a sequence, to be read while it arrives.
        /// - Throws: `URLError`; while the content is read, ``ClientError``.
        public func bytes(
            from url: URL, delegate: (any ClientSessionDelegate)? = nil
        ) async throws -> (ClientContent, URLResponse) {
            try await pieces(ClientRequest(.get, url), delegate)
        }

        private func result(
            _ request: ClientRequest, _ delegate: (any ClientSessionDelegate)?
        ) async throws -> (Data, URLResponse) {
            do throws(ClientError) {
                let (content, response) = try await data(for: request, delegate: delegate)
                return (Data(content), response.urlResponse)
            } catch {
                throw error.urlError
            }
        }

        private func file(
            _ request: ClientRequest, _ delegate: (any ClientSessionDelegate)?
        ) async throws -> (URL, URLResponse) {
            let folder = FileManager.default.temporaryDirectory
            let file = folder.appendingPathComponent("\(UUID().uuidString).download")
            do throws(ClientError) {
                // The file is new, so the content of any response may be written, as with
                // `URLSession`.
                let told = delegate == nil ? eventsBesideContent : events(delegate)
                let task = download(
                    request, to: file.path, resuming: nil, told, nil, requiresSuccess: false,
                    isPrivate: true)
                let response = try await task.finished()
                return (file, response.urlResponse)
            } catch {
                throw error.urlError
            }
        }

        private func pieces(
            _ request: ClientRequest, _ delegate: (any ClientSessionDelegate)?
        ) async throws -> (ClientContent, URLResponse) {
            do throws(ClientError) {
                let (content, response) = try await bytes(for: request, delegate: delegate)
                return (content, response.urlResponse)
            } catch {
                throw error.urlError
            }
        }
    }

    // Tasks.
    extension ClientSession {
        /// Receives the content, the response and the error of a task. The error is a `URLError`.
        public typealias URLDataCompletion =
            @Sendable (_ content: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void

        /// Receives the file, the response and the error of a download. The error is a `URLError`.
        /// The file is removed when the handler returns.
        public typealias URLDownloadCompletion =
            @Sendable (_ file: URL?, _ response: URLResponse?, _ error: (any Error)?) -> Void

        /// Creates a task whose content goes to the delegate.
        public func dataTask(with request: URLRequest) -> DataTask {
            dataTask(for: ClientRequest(request))
        }

        /// Creates a task that fetches the content of a URL for the delegate.
        public func dataTask(with url: URL) -> DataTask { dataTask(for: ClientRequest(.get, url)) }

        /// Creates a task whose content is collected for a completion handler.
        public func dataTask(
            with request: URLRequest, completionHandler: @escaping URLDataCompletion
        ) -> DataTask {
            dataTask(for: ClientRequest(request), completion: Self.handler(completionHandler))
        }

        /// Creates a task that collects the content of a URL for a completion handler.
        public func dataTask(
            with url: URL, completionHandler: @escaping URLDataCompletion
        ) -> DataTask {
            dataTask(for: ClientRequest(.get, url), completion: Self.handler(completionHandler))
        }

        /// Creates a task that sends content; the response goes to the delegate.
        public func uploadTask(with request: URLRequest, from content: Data) -> UploadTask {
            let request = ClientRequest(request, sending: content)
            return uploadTask(for: request, from: request.body)
        }

        /// Creates a task that sends a file; the response goes to the delegate.
        public func uploadTask(with request: URLRequest, fromFile file: URL) -> UploadTask {
            let request = ClientRequest(request, sendingFile: file)
            return uploadTask(for: request, from: request.body)
        }

        /// Creates a task that sends the request's body stream, or without one the content from
        /// ``ClientSessionDelegate/taskNeedsNewBody(_:)``. The response goes to the delegate.
        public func uploadTask(withStreamedRequest request: URLRequest) -> UploadTask {
            let request = ClientRequest(request)
            return uploadTask(for: request, from: request.body.isNone ? nil : request.body)
        }

        /// Creates a task that sends content, and collects the content of the response for a
        /// completion handler.
        public func uploadTask(
            with request: URLRequest, from content: Data?,
            completionHandler: @escaping URLDataCompletion
        ) -> UploadTask {
            let request = ClientRequest(request, sending: content ?? Data())
            return uploadTask(
                for: request, from: request.body, completion: Self.handler(completionHandler))
        }

        /// Creates a task that sends a file, and collects the content of the response for a
        /// completion handler.
        public func uploadTask(
            with request: URLRequest, fromFile file: URL,
            completionHandler: @escaping URLDataCompletion
        ) -> UploadTask {
            let request = ClientRequest(request, sendingFile: file)
            return uploadTask(
                for: request, from: request.body, completion: Self.handler(completionHandler))
        }

        /// Creates a task that writes content to a temporary file, which the delegate gets.
        public func downloadTask(with request: URLRequest) -> DownloadTask {
            downloadTask(for: ClientRequest(request))
        }

        /// Creates a task that writes the content of a URL to a temporary file, which the delegate
        /// gets.
        public func downloadTask(with url: URL) -> DownloadTask {
            downloadTask(for: ClientRequest(.get, url))
        }

        /// Creates a task that writes content to a temporary file for a completion handler.
        public func downloadTask(
            with request: URLRequest, completionHandler: @escaping URLDownloadCompletion
        ) -> DownloadTask {
            downloadTask(for: ClientRequest(request), completion: Self.handler(completionHandler))
        }

        /// Creates a task that writes the content of a URL to a temporary file for a completion
        /// handler.
        public func downloadTask(
            with url: URL, completionHandler: @escaping URLDownloadCompletion
        ) -> DownloadTask {
            downloadTask(
                for: ClientRequest(.get, url), completion: Self.handler(completionHandler))
        }

        private static func handler(_ completion: @escaping URLDataCompletion) -> DataCompletion {
            { content, response, error in
                completion(
                    error == nil ? Data(content) : nil, response?.urlResponse, error?.urlError)
            }
        }

        private static func handler(
            _ completion: @escaping URLDownloadCompletion
        ) -> DownloadCompletion {
            { path, response, error in
                completion(
                    path.map { URL(fileURLWithPath: $0) }, response?.urlResponse, error?.urlError)
            }
        }
    }

    extension ClientRequest {
        fileprivate init(_ request: URLRequest, sending content: Data) {
            self.init(request)
            body = .bytes([UInt8](content))
        }

        fileprivate init(_ request: URLRequest, sendingFile file: URL) {
            self.init(request)
            body = .file(file.path)
        }
    }
#endif
