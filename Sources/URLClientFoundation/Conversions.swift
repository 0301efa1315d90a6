#if FoundationNetworking
    internal import Foundation
    internal import HTTPParser
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension URLRequest {
        /// The request with Foundation's type. Content that comes as a stream is left out.
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
        /// The request with what a delegate has changed of its form for Foundation.
        ///
        /// The limits of time stay those of the task, which are set when it starts.
        func changed(from shown: URLRequest, to wanted: URLRequest) -> ClientRequest {
            let new = ClientRequest(wanted)
            var request = self
            // Each part is compared: to Foundation, requests with other fields or content are equal.
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
        /// For `downloadTask(withResumeData:)`.
        var encoded: Data? { try? JSONEncoder().encode(self) }

        init?(encoded data: Data) {
            guard let known = try? JSONDecoder().decode(ResumeData.self, from: data) else {
                return nil
            }
            self = known
        }
    }

    extension ClientError {
        /// The error as a session gives it, with the resume data of a download where `URLSession`
        /// has it.
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

    /// A value that Foundation has not marked as sendable and that is handed on, not shared.
    struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
    }
#endif
