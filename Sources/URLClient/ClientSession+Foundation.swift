#if FoundationNetworking
    public import Foundation

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    // For code that comes from URLSession: the same calls with the same types.
    extension ClientSession {
        /// Sends a request and collects the content of the response.
        /// - Throws: `URLError`.
        public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
            try await converted(try await result(ClientRequest(request)))
        }

        /// Fetches what a URL names.
        /// - Throws: `URLError`.
        public func data(from url: URL) async throws -> (Data, URLResponse) {
            try await data(for: URLRequest(url: url))
        }

        /// Sends content and collects that of the response.
        /// - Throws: `URLError`.
        public func upload(
            for request: URLRequest, from content: Data
        ) async throws -> (Data, URLResponse) {
            var request = ClientRequest(request)
            request.body = .bytes([UInt8](content))
            return try await converted(try await result(request))
        }

        /// Sends a file and collects the content of the response.
        /// - Throws: `URLError`.
        public func upload(
            for request: URLRequest, fromFile file: URL
        ) async throws -> (Data, URLResponse) {
            var request = ClientRequest(request)
            request.body = .file(file.path)
            return try await converted(try await result(request))
        }

        /// Fetches content into a temporary file, which is the caller's.
        /// - Throws: `URLError`.
        public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
            let folder = FileManager.default.temporaryDirectory
            let file = folder.appendingPathComponent("\(UUID().uuidString).download")
            do throws(ClientError) {
                let response = try await download(for: ClientRequest(request), to: file.path)
                return (file, response.urlResponse)
            } catch {
                throw error.urlError
            }
        }

        /// Creates a task whose content is collected for a completion handler.
        public func dataTask(
            with request: URLRequest,
            completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
        ) -> DataTask {
            dataTask(for: ClientRequest(request)) { content, response, error in
                completionHandler(
                    error == nil ? Data(content) : nil, response?.urlResponse, error?.urlError)
            }
        }

        private func result(_ request: ClientRequest) async throws -> ([UInt8], ClientResponse) {
            do throws(ClientError) {
                return try await data(for: request)
            } catch {
                throw error.urlError
            }
        }

        private func converted(
            _ result: ([UInt8], ClientResponse)
        ) async throws -> (Data, URLResponse) {
            (Data(result.0), result.1.urlResponse)
        }
    }
#endif
