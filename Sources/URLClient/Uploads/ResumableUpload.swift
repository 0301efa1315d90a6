internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Uploads a file, and resumes after the connection broke if the server supports it
/// (draft-ietf-httpbis-resumable-upload, interop version 8).
///
/// ```swift
/// let request = ClientRequest(.put, "https://example.org/files/big.iso")
/// let upload = ResumableUpload(request, fromFile: "big.iso", in: session)
/// do {
///     let (content, response) = try await upload.finished()
/// } catch {
///     // Keep `upload.resumeData` for the next try.
/// }
/// ```
///
/// The whole file is sent in one request, which any server accepts. A server that supports
/// resumption immediately responds with 104. If the connection breaks later, the rest is sent, any
/// number of times: only failures in a row without progress are counted. Without a 104, the upload
/// is repeated only as the session's ``RetryPolicy`` allows.
public final class ResumableUpload: Sendable {
    private struct State: Sendable {
        var uploadURL: URL?
        var task: UploadTask?
    }

    /// The result of one request.
    private enum Step {
        case done([UInt8], ClientResponse)
        /// Ask the server how much it has received.
        case again(ClientError?, ClientResponse?)
    }

    private let request: ClientRequest
    private let path: String
    private let session: ClientSession
    private let limit: Int
    private let known: UploadResumeData?
    private let length = Locked<Int64>(0)
    private let state = Locked(State())

    /// - Parameters:
    ///   - request: the request, with method PUT, POST or PATCH. Its body is replaced.
    ///   - path: the path of the file, which must not change during the upload.
    ///   - session: the session that sends the requests.
    ///   - data: the resume data of an earlier upload. The upload starts again if the server no
    ///     longer knows it, if the data are for another URL or file, or if they lead from https to
    ///     http.
    ///   - limit: how many failures in a row are tolerated while the server receives nothing more.
    public init(
        _ request: ClientRequest, fromFile path: String, in session: ClientSession,
        resuming data: UploadResumeData? = nil, failureLimit limit: Int = 5
    ) {
        (self.request, self.path, self.session, self.limit) = (request, path, session, limit)
        known = data.flatMap { data in
            guard data.path == path, data.url == request.url,
                UploadPlace.url(data.upload.absoluteString, for: request) != nil
            else { return nil }
            return data
        }
    }

    /// The data to resume the upload later; `nil` until the server has sent a URL for the upload.
    public var resumeData: UploadResumeData? {
        let (state, length) = (state.withLock { $0 }, length.withLock { $0 })
        return (state.uploadURL ?? state.task?.uploadURL).map {
            UploadResumeData(url: request.url, upload: $0, path: path, length: length)
        }
    }

    /// The current or last task, which reports progress; `nil` before the first.
    public var task: UploadTask? { state.withLock { $0.task } }

    /// Sends the file, and waits for the response.
    /// - Returns: the content of the response, and the response, which may have any status.
    /// - Throws: the error that kept the response from being complete. ``resumeData`` allows to
    ///   resume the upload.
    @discardableResult
    public func finished() async throws(ClientError) -> ([UInt8], ClientResponse) {
        let size = try UploadSource.length(ofFile: path)
        length.withLock { $0 = size }
        if let known, known.length == size { state.withLock { $0.uploadURL = known.upload } }
        var failures = 0
        var best: Int64 = -1
        while true {
            var step = Step.again(nil, nil)
            if let url = state.withLock({ $0.uploadURL }) {
                switch await offset(at: url) {
                case .success((let offset, let response)?):
                    if offset > best { (best, failures) = (offset, 0) }
                    step = try await append(from: offset, to: url)
                    // The final response was lost, and the server sends it only once.
                    if Self.isComplete(response), case .done(_, let refusal) = step,
                        refusal.status.class == .clientError
                    {
                        return ([], response)
                    }
                case .success(nil):
                    // The server no longer knows the upload.
                    state.withLock { $0 = State() }
                    guard best < 0 else { throw ClientError(.badResponse, "the upload is gone") }
                    best = 0
                    continue
                case .failure(let error): step = .again(error, nil)
                }
            } else {
                step = try await begin()
            }
            switch step {
            case .done(let content, let response): return (content, response)
            case .again(let error, let response):
                failures += 1
                if failures > limit || error?.isCancelled == true || Task.isCancelled {
                    throw error
                        ?? ClientError(
                            .badResponse, "the server answered \(response?.status.code ?? 0)")
                }
                try await pause(failures)
            }
        }
    }

    private func pause(_ failures: Int) async throws(ClientError) {
        guard failures > 1 else { return }
        do {
            try await Task.sleep(for: .milliseconds(50 << min(failures, 8)))
        } catch {
            throw ClientError(.cancelled)
        }
    }

    // MARK: Requests

    private func begin() async throws(ClientError) -> Step {
        var request = request
        request.fields[.uploadComplete] = "?1"
        request.fields[.interopVersion] = "8"
        return try await send(request, .file(path))
    }

    private func append(from offset: Int64, to url: URL) async throws(ClientError) -> Step {
        let length = length.withLock { $0 }
        guard offset <= length else {
            throw ClientError(.badResponse, "the server has more than the file")
        }
        var request = request(.patch, url)
        request.fields[.uploadComplete] = "?1"
        request.fields[.uploadOffset] = "\(offset)"
        request.fields[.contentType] = "application/partial-upload"
        let rest = length - offset
        return try await send(
            request, rest == 0 ? .bytes([]) : .file(path, offset: offset, count: rest))
    }

    private func send(
        _ request: ClientRequest, _ body: ClientBody
    ) async throws(ClientError) -> Step {
        let task = session.resumableTask(request, body)
        state.withLock { $0.task = task }
        do {
            let (content, response) = try await session.collect(task)
            keepURL(of: task)
            return isFinal(response) ? .done(content, response) : .again(nil, response)
        } catch {
            keepURL(of: task)
            // Without a URL the upload cannot be resumed.
            guard state.withLock({ $0.uploadURL != nil }), Self.mayGoOn(error) else { throw error }
            return .again(error, nil)
        }
    }

    private func keepURL(of task: UploadTask) {
        guard let url = task.uploadURL else { return }
        state.withLock { $0.uploadURL = url }
    }

    /// Whether a response is the final one, and not about the state of the upload.
    private func isFinal(_ response: ClientResponse) -> Bool {
        if Self.isComplete(response) { return true }
        guard state.withLock({ $0.uploadURL != nil }) else { return true }
        // The server lacks content, although it received the whole request.
        if response.fields[.uploadComplete] == "?0", response.status.class == .successful {
            return false
        }
        if response.status.code == 409, response.fields[.uploadOffset] != nil { return false }
        return response.status.class != .serverError
    }

    private static func isComplete(_ response: ClientResponse) -> Bool {
        response.fields[.uploadComplete] == "?1"
    }

    private static func mayGoOn(_ error: ClientError) -> Bool {
        switch error.kind {
        case .connectionLost, .cannotConnect, .timedOut, .emptyResponse, .truncated,
            .cannotFindHost:
            true
        default: false
        }
    }

    /// How many bytes the server has, with its response; `nil` if it does not know the upload.
    private func offset(at url: URL) async -> Result<(Int64, ClientResponse)?, ClientError> {
        do throws(ClientError) {
            let (_, response) = try await session.data(for: request(.head, url))
            // Other statuses, such as 401 and 429, do not mean that the upload is gone.
            if [404, 410].contains(response.status.code) { return .success(nil) }
            guard response.status.class == .successful,
                let offset = response.fields[.uploadOffset].flatMap({ FieldValues.parseDecimal($0) }
                )
            else { throw ClientError(.badResponse, "HEAD was answered \(response.status.code)") }
            return .success((offset, response))
        } catch {
            return .failure(error)
        }
    }

    /// A request to the URL of the upload. For the same origin it has the original request's
    /// credential, and its fields that are not about content.
    private func request(_ method: HTTPMethod, _ url: URL) -> ClientRequest {
        var made = request
        made.method = method
        made.url = url
        made.body = .none
        let isSame = made.origin == request.origin
        if isSame {
            // The URL in Location contains no user.
            made.credential = request.ownCredential
        } else {
            made.credential = nil
            made.connectTo = nil
            var tls = made.tls ?? session.configuration.tls
            tls.clientCertificate = nil
            made.tls = tls
        }
        made.fields = HTTPFields()
        for field in request.fields where isSame && !Self.isOfContent(field.name) {
            made.fields.append(field)
        }
        made.fields[.interopVersion] = "8"
        return made
    }

    private static func isOfContent(_ name: HTTPFieldName) -> Bool {
        let text = name.text.lowercased()
        return ["content-", "if-", "upload-", "repr-", "range", "expect"].contains {
            text.hasPrefix($0)
        }
    }
}

extension ClientSession {
    /// A task whose response is collected.
    fileprivate func resumableTask(_ request: ClientRequest, _ body: ClientBody) -> UploadTask {
        var request = request
        request.body = body
        return UploadTask(
            nextIdentifier(), request, loop, events: events(nil), wantsMetrics: true,
            completion: nil)
    }
}
