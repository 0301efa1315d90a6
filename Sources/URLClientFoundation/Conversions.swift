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
        func changed(from shown: URLRequest, to wanted: URLRequest) -> ClientRequest {
            guard wanted != shown else { return self }
            let new = ClientRequest(wanted)
            var request = self
            (request.url, request.method, request.fields) = (new.url, new.method, new.fields)
            if wanted.httpBody != shown.httpBody { request.body = new.body }
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
