#if FoundationNetworking
    public import Foundation
    internal import HTTPParser
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // The functions that create tasks, with the names of URLSession's.
    extension ClientURLSession {
        /// Called with the content, the response (an `HTTPURLResponse`) and the error (`URLError`).
        public typealias DataCompletion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        /// Called with a file, the response and the error. The file is removed when this returns.
        public typealias DownloadCompletion = @Sendable (URL?, URLResponse?, (any Error)?) -> Void

        // MARK: data

        /// A task for a request, with events for the delegate.
        public func dataTask(with request: URLRequest) -> ClientURLSessionDataTask {
            dataTask(for: ClientRequest(request))
        }

        /// A task for a URL, with events for the delegate.
        public func dataTask(with url: URL) -> ClientURLSessionDataTask {
            dataTask(for: ClientRequest(.get, url))
        }

        /// A task for a request with a completion handler.
        public func dataTask(
            with request: URLRequest, completionHandler: @escaping DataCompletion
        ) -> ClientURLSessionDataTask {
            dataTask(for: ClientRequest(request), completionHandler: completionHandler)
        }

        /// A task for a URL with a completion handler.
        public func dataTask(
            with url: URL, completionHandler: @escaping DataCompletion
        ) -> ClientURLSessionDataTask {
            dataTask(for: ClientRequest(.get, url), completionHandler: completionHandler)
        }

        /// A task for a request with the client's own settings, such as
        /// ``/URLClient/ClientRequest/connectTo``.
        public func dataTask(
            for request: ClientRequest, completionHandler: DataCompletion? = nil
        ) -> ClientURLSessionDataTask {
            guard let completionHandler else {
                return ClientURLSessionDataTask(client.dataTask(for: request), self)
            }
            let core = client.dataTask(for: request, completion: handler(completionHandler))
            return ClientURLSessionDataTask(core, self, hasHandler: true)
        }

        // MARK: upload

        /// A task that sends content from memory.
        public func uploadTask(
            with request: URLRequest, from bodyData: Data
        ) -> ClientURLSessionUploadTask {
            upload(ClientRequest(request), .bytes([UInt8](bodyData)), nil)
        }

        /// A task that sends a file.
        public func uploadTask(
            with request: URLRequest, fromFile fileURL: URL
        ) -> ClientURLSessionUploadTask {
            upload(ClientRequest(request), .file(fileURL.path), nil)
        }

        /// A task that sends the content of the request's stream, or else of a stream from the
        /// delegate.
        public func uploadTask(withStreamedRequest request: URLRequest)
            -> ClientURLSessionUploadTask
        {
            let request = ClientRequest(request)
            return upload(request, request.body.isNone ? nil : request.body, nil)
        }

        /// A task that sends content from memory, with a completion handler.
        public func uploadTask(
            with request: URLRequest, from bodyData: Data?,
            completionHandler: @escaping DataCompletion
        ) -> ClientURLSessionUploadTask {
            upload(ClientRequest(request), .bytes([UInt8](bodyData ?? Data())), completionHandler)
        }

        /// A task that sends a file, with a completion handler.
        public func uploadTask(
            with request: URLRequest, fromFile fileURL: URL,
            completionHandler: @escaping DataCompletion
        ) -> ClientURLSessionUploadTask {
            upload(ClientRequest(request), .file(fileURL.path), completionHandler)
        }

        private func upload(
            _ request: ClientRequest, _ body: ClientBody?, _ completionHandler: DataCompletion?
        ) -> ClientURLSessionUploadTask {
            guard let completionHandler, let body else {
                return ClientURLSessionUploadTask(client.uploadTask(for: request, from: body), self)
            }
            let core = client.uploadTask(
                for: request, from: body, completion: handler(completionHandler))
            return ClientURLSessionUploadTask(core, self, hasHandler: true)
        }

        // MARK: download

        /// A task that writes a file.
        public func downloadTask(with request: URLRequest) -> ClientURLSessionDownloadTask {
            ClientURLSessionDownloadTask(client.downloadTask(for: ClientRequest(request)), self)
        }

        /// A task that writes a file.
        public func downloadTask(with url: URL) -> ClientURLSessionDownloadTask {
            ClientURLSessionDownloadTask(client.downloadTask(for: ClientRequest(.get, url)), self)
        }

        /// A task that writes a file, with a completion handler.
        public func downloadTask(
            with request: URLRequest, completionHandler: @escaping DownloadCompletion
        ) -> ClientURLSessionDownloadTask {
            download(ClientRequest(request), completionHandler)
        }

        /// A task that writes a file, with a completion handler.
        public func downloadTask(
            with url: URL, completionHandler: @escaping DownloadCompletion
        ) -> ClientURLSessionDownloadTask {
            download(ClientRequest(.get, url), completionHandler)
        }

        /// Resumes a download. If the data does not come from a task of this module, the task fails
        /// with `URLError.unsupportedURL`.
        public func downloadTask(withResumeData resumeData: Data) -> ClientURLSessionDownloadTask {
            guard let data = ResumeData(encoded: resumeData) else {
                return downloadTask(with: Self.noURL)
            }
            return ClientURLSessionDownloadTask(client.downloadTask(resuming: data), self)
        }

        /// Resumes a download, with a completion handler.
        public func downloadTask(
            withResumeData resumeData: Data, completionHandler: @escaping DownloadCompletion
        ) -> ClientURLSessionDownloadTask {
            guard let data = ResumeData(encoded: resumeData) else {
                return downloadTask(with: Self.noURL, completionHandler: completionHandler)
            }
            let core = client.downloadTask(resuming: data, completion: handler(completionHandler))
            return ClientURLSessionDownloadTask(core, self, hasHandler: true)
        }

        func download(
            _ request: ClientRequest, _ completionHandler: @escaping DownloadCompletion
        ) -> ClientURLSessionDownloadTask {
            let core = client.downloadTask(for: request, completion: handler(completionHandler))
            return ClientURLSessionDownloadTask(core, self, hasHandler: true)
        }

        private func handler(
            _ completionHandler: @escaping DownloadCompletion
        ) -> ClientSession.DownloadCompletion {
            let bridge = bridge
            return { path, response, error in
                bridge.call {
                    completionHandler(
                        path.map { URL(fileURLWithPath: $0) }, response?.urlResponse,
                        error?.sessionError)
                }
            }
        }

        static let noURL = URL(fileURLWithPath: "/")

        private func handler(
            _ completionHandler: @escaping DataCompletion
        ) -> ClientSession.DataCompletion {
            let bridge = bridge
            return { content, response, error in
                bridge.call {
                    completionHandler(
                        error == nil ? Data(content) : nil, response?.urlResponse,
                        error?.sessionError)
                }
            }
        }
    }
#endif
