#if FoundationNetworking
    public import Foundation
    internal import HTTPParser

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    extension ClientRequest {
        /// The same request as one for `URLSession`.
        ///
        /// A body stream is not taken over. The timeout becomes ``ClientTimeouts/idle``.
        public init(_ request: URLRequest) {
            let url = request.url ?? URL(fileURLWithPath: "/")
            var fields = HTTPFields()
            for (name, value) in request.allHTTPHeaderFields ?? [:] {
                if let name = HTTPFieldName(name) { fields.append(name, value) }
            }
            let method = request.httpMethod.flatMap(HTTPMethod.init) ?? .get
            let body = request.httpBody.map { ClientBody.bytes([UInt8]($0)) } ?? .none
            self.init(method, url, fields: fields, body: body)
            cachePolicy = CachePolicy(request.cachePolicy)
            timeouts = ClientTimeouts(idle: .seconds(request.timeoutInterval))
            usesCookies = request.httpShouldHandleCookies
            mainDocumentURL = request.mainDocumentURL
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
        /// The same response as `URLSession` gives it, an `HTTPURLResponse`; fields of one name are
        /// joined with commas.
        public var urlResponse: URLResponse {
            var fields: [String: String] = [:]
            for field in self.fields {
                let name = field.name.text
                fields[name] = fields[name].map { "\($0), \(field.value)" } ?? field.value
            }
            let response = HTTPURLResponse(
                url: url, statusCode: Int(status.code), httpVersion: version.rawValue,
                headerFields: fields)
            return response
                ?? URLResponse(
                    url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        }
    }

    extension ClientError {
        /// The same error as `URLSession` gives it.
        public var urlError: URLError {
            URLError(
                URLError.Code(rawValue: urlErrorCode) ?? .unknown,
                userInfo: [NSLocalizedDescriptionKey: description])
        }
    }
#endif
