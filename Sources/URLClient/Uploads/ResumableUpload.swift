internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The upload of a file that goes on after the connection broke, where the server can
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
/// All of the file is sent by one request, as any server takes it. A server that can resume answers
/// it with 104 at once. When the connection breaks then, the rest is sent, as often as it takes: only
/// breaks between which nothing has come are counted. A server that sends no 104 is sent the whole
/// file; what the session's ``RetryPolicy`` says is all that is tried again there.
public final class ResumableUpload: Sendable {
    private struct State: Sendable {
        var uploadURL: URL?
        var task: UploadTask?
    }

    /// How it goes on.
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
    ///   - request: where to, and how; its body is replaced. A method other than PUT, POST and PATCH
    ///     makes no sense.
    ///   - path: the file. It must not change meanwhile.
    ///   - session: sends it.
    ///   - data: what an earlier upload of the file has left; the upload starts again when the server does
    ///     not know it any more, and when it is for another URL or file, or leads from TLS to clear text.
    ///   - limit: how often the connection may break, one time after the other, without anything
    ///     having come.
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

    /// With which the upload goes on later; `nil` as long as the server has told no URL for it.
    public var resumeData: UploadResumeData? {
        let (state, length) = (state.withLock { $0 }, length.withLock { $0 })
        return (state.uploadURL ?? state.task?.uploadURL).map {
            UploadResumeData(url: request.url, upload: $0, path: path, length: length)
        }
    }

    /// The task that sends now, and has the progress; `nil` before the first.
    public var task: UploadTask? { state.withLock { $0.task } }

    /// Sends the file, and waits for the answer.
    /// - Returns: the content of the answer and the response, whatever its status.
    /// - Throws: why there is none. ``resumeData`` says how the upload goes on.
    @discardableResult
    public func finished() async throws(ClientError) -> ([UInt8], ClientResponse) {
        guard case .success((_, let size)) = System.openForReading(path) else {
            throw ClientError(.cannotOpenFile, path)
        }
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
                    // The answer was lost, and the server gives it only once.
                    if Self.isComplete(response), case .done(_, let refusal) = step,
                        refusal.status.class == .clientError
                    {
                        return ([], response)
                    }
                case .success(nil):
                    // The server has forgotten it.
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
            // Without a URL there is nothing to go on with.
            guard state.withLock({ $0.uploadURL != nil }), Self.mayGoOn(error) else { throw error }
            return .again(error, nil)
        }
    }

    private func keepURL(of task: UploadTask) {
        guard let url = task.uploadURL else { return }
        state.withLock { $0.uploadURL = url }
    }

    /// Whether a response is the answer, and not about the upload.
    private func isFinal(_ response: ClientResponse) -> Bool {
        if Self.isComplete(response) { return true }
        guard state.withLock({ $0.uploadURL != nil }) else { return true }
        // The server lacks content, though it took all of the request.
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

    /// How much the server has, and the response that says so; `nil` when it does not know the upload.
    private func offset(at url: URL) async -> Result<(Int64, ClientResponse)?, ClientError> {
        do throws(ClientError) {
            let (_, response) = try await session.data(for: request(.head, url))
            // Others, such as 401 and 429, say nothing about the upload.
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

    /// A request for the upload itself: with the fields of the request that are not about its content,
    /// if that goes to the same origin.
    private func request(_ method: HTTPMethod, _ url: URL) -> ClientRequest {
        var made = request
        made.method = method
        made.url = url
        made.body = .none
        let isSame = made.origin == request.origin
        if isSame {
            // Location names no user.
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
    /// A task whose answer is collected.
    fileprivate func resumableTask(_ request: ClientRequest, _ body: ClientBody) -> UploadTask {
        var request = request
        request.body = body
        return UploadTask(
            nextIdentifier(), request, loop, events: events(nil), wantsMetrics: true,
            completion: nil)
    }
}
