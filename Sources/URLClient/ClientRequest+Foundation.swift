#if FoundationNetworking
    internal import Dispatch
    public import Foundation
    internal import HTTPParser

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    extension ClientRequest {
        /// Creates the same request from a `URLRequest`.
        ///
        /// A POST with `httpBody` and without a media type is sent as
        /// `application/x-www-form-urlencoded`, as by `URLSession`. A body stream is read once,
        /// while it is sent; with `Content-Length` if the request has that field, otherwise
        /// chunked. A cache policy and a timeout that are not `URLRequest`'s defaults win over the
        /// session's; the timeout is ``ClientTimeouts/idle``. The session's timeout also applies if
        /// the request's is zero, negative or not a number. A timeout above thirty years stands for
        /// no limit.
        public init(_ request: URLRequest) {
            let url = request.url ?? URL(fileURLWithPath: "/")
            var fields = HTTPFields()
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                if let name = HTTPFieldName(name) { fields.append(name, value) }
            }
            let method = request.httpMethod.flatMap(HTTPMethod.init) ?? .get
            self.init(method, url, fields: fields, body: Self.body(of: request, method))
            if request.cachePolicy != .useProtocolCachePolicy {
                cachePolicy = CachePolicy(request.cachePolicy)
            }
            // Do not set values that are left to the session: a request without them needs no
            // second allocation.
            if let limit = Self.idleLimit(request.timeoutInterval) { idleLimit = limit }
            if !request.httpShouldHandleCookies { usesCookies = false }
            if let url = request.mainDocumentURL { mainDocumentURL = url }
        }

        private static func body(of request: URLRequest, _ method: HTTPMethod) -> ClientBody {
            if let content = request.httpBody {
                return .bytes(
                    [UInt8](content),
                    mediaType: method == .post ? "application/x-www-form-urlencoded" : nil)
            }
            guard let stream = request.httpBodyStream else { return .none }
            let length = request.value(forHTTPHeaderField: "Content-Length")
                .flatMap { FieldValues.parseDecimal($0) }
            return .stream(StreamPieces(stream), length: length)
        }

        private static func idleLimit(_ seconds: TimeInterval) -> IdleLimit? {
            // 60 seconds is the default of `URLRequest`.
            guard seconds != 60, seconds > 0 else { return nil }
            return IdleLimit(value: seconds < 1e9 ? .seconds(seconds) : nil)
        }
    }

    /// The content of a stream. It is read on a separate queue, because reading may block.
    private struct StreamPieces: AsyncSequence, @unchecked Sendable {
        private let stream: InputStream
        private let queue = DispatchQueue(label: "URLClient.stream")

        init(_ stream: InputStream) {
            self.stream = stream
        }

        func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

        struct Iterator: AsyncIteratorProtocol {
            fileprivate let pieces: StreamPieces

            mutating func next() async throws -> [UInt8]? {
                let pieces = pieces
                return try await withCheckedThrowingContinuation { continuation in
                    pieces.queue.async {
                        continuation.resume(with: Result { try pieces.read() })
                    }
                }
            }
        }

        private func read() throws -> [UInt8]? {
            if stream.streamStatus == .notOpen { stream.open() }
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { room, filled in
                guard let start = room.baseAddress else { return }
                count = unsafe stream.read(start, maxLength: room.count)
                filled = count < 0 ? 0 : count
            }
            guard count < 0 else { return piece.isEmpty ? nil : piece }
            throw stream.streamError
                ?? ClientError(.bodyFailed, "the body stream cannot be read")
        }
    }

    extension CachePolicy {
        /// The policy of the same name.
        public init(_ policy: URLRequest.CachePolicy) {
            self =
                switch policy {
                case .reloadIgnoringLocalCacheData: .reloadIgnoringLocalCacheData
                case .reloadIgnoringLocalAndRemoteCacheData: .reloadIgnoringLocalAndRemoteCacheData
                case .returnCacheDataElseLoad: .returnCacheDataElseLoad
                case .returnCacheDataDontLoad: .returnCacheDataDontLoad
                case .reloadRevalidatingCacheData: .reloadRevalidatingCacheData
                default: .useProtocolCachePolicy
                }
        }
    }

    extension ClientResponse {
        /// The same response as an `HTTPURLResponse`; values of fields with one name are joined
        /// with commas.
        public var urlResponse: URLResponse {
            let response = HTTPURLResponse(
                url: url, statusCode: Int(status.code), httpVersion: version.rawValue,
                headerFields: fields.byName())
            return response
                ?? URLResponse(
                    url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }
    }

    extension HTTPFields {
        /// The fields in the form of `HTTPURLResponse`: values of one name, in any case, are joined
        /// with commas.
        package func byName() -> [String: String] {
            let values = reduce(into: [HTTPFieldName: String]()) { values, field in
                values[field.name] =
                    values[field.name].map { "\($0), \(field.value)" } ?? field.value
            }
            return Dictionary(uniqueKeysWithValues: values.map { ($0.key.text, $0.value) })
        }
    }

    extension ClientError {
        /// `URLError.Code(rawValue:)` is failable, except on Apple platforms.
        private static func code(_ number: Int) -> URLError.Code {
            let code: URLError.Code? = URLError.Code(rawValue: number)
            return code ?? .unknown
        }

        /// The same error as a `URLError`.
        public var urlError: URLError {
            URLError(
                Self.code(urlErrorCode),
                userInfo: [NSLocalizedDescriptionKey: description])
        }
    }
#endif
