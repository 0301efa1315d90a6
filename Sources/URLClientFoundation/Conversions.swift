#if FoundationNetworking
    internal import Foundation
    internal import HTTPParser
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension URLRequest {
        /// The request as a `URLRequest`. Content that is not in memory is left out.
        init(_ request: ClientRequest) {
            self.init(url: request.url)
            httpMethod = request.method.name
            for field in request.fields {
                addValue(field.value, forHTTPHeaderField: field.name.text)
            }
            if let content = request.body.bytesInMemory { httpBody = Data(content) }
            httpShouldHandleCookies = request.usesCookies
            mainDocumentURL = request.mainDocumentURL
        }
    }

    extension ClientRequest {
        /// The request with the changes that a delegate made to its `URLRequest`.
        ///
        /// The time limits do not change: they are set when the task starts.
        func changed(from shown: URLRequest, to wanted: URLRequest) -> ClientRequest {
            let new = ClientRequest(wanted)
            var request = self
            // Compare each part: Foundation's `==` ignores fields and content.
            if wanted.url != shown.url { request.url = new.url }
            if wanted.httpMethod != shown.httpMethod { request.method = new.method }
            if wanted.allHTTPHeaderFields != shown.allHTTPHeaderFields {
                request.fields = new.fields
            }
            let hasNewStream = wanted.httpBody == nil && wanted.httpBodyStream != nil
            if hasNewStream || wanted.httpBody != shown.httpBody { request.body = new.body }
            if wanted.httpShouldHandleCookies != shown.httpShouldHandleCookies {
                request.usesCookies = new.usesCookies
            }
            if wanted.mainDocumentURL != shown.mainDocumentURL {
                request.mainDocumentURL = new.mainDocumentURL
            }
            if wanted.cachePolicy != shown.cachePolicy { request.cachePolicy = new.cachePolicy }
            return request
        }
    }

    extension ResumeData {
        /// The data for `downloadTask(withResumeData:)`.
        var encoded: Data? { try? JSONEncoder().encode(self) }

        init?(encoded data: Data) {
            guard let known = try? JSONDecoder().decode(ResumeData.self, from: data) else {
                return nil
            }
            self = known
        }
    }

    extension ClientError {
        /// The error as a `URLError`, with the resume data of a download in `userInfo`, as in
        /// `URLSession`.
        var sessionError: URLError {
            guard let data = resumeData?.encoded else { return urlError }
            return URLError(
                urlError.code,
                userInfo: [
                    NSLocalizedDescriptionKey: description,
                    ClientURLSession.downloadTaskResumeDataKey: data,
                ])
        }
    }

    /// A value that Foundation does not mark as sendable. It is passed on, and never shared.
    struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }
#endif
