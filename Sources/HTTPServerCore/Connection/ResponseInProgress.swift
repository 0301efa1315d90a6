internal import HTTPParser

/// One response, from the head of its request until all of it is sent.
struct ResponseInProgress {
    /// Whether it answers HEAD, so that its content is not sent.
    let isHead: Bool
    var serializer = ResponseSerializer()
    /// Whether it can have trailers.
    var isChunked = false
    /// Whether only the end of the connection ends it.
    var endsWithClose = false
    var trailers: HTTPFields?
    /// The figures of its request, if an observer wants them.
    var observation: RequestObservation?
    /// Bytes that its stream has written since other connections had their turn.
    var turnBytes = 0
}

/// The figures of a request, collected while it is answered.
struct RequestObservation {
    /// `nil` when the head could not be read.
    let storage: Request.Storage?
    let started: UInt64
    var status = HTTPStatus.badRequest
    /// The announced length of the response's content; `nil` if unknown, 0 without content.
    var contentLength: Int64? = 0
    /// Bytes of content that were written, whether sent or not.
    var contentBytes: Int64 = 0
    /// Bytes of the request's content that were received.
    var receivedBytes: Int64 = 0
    /// The bytes of content that were reported so far.
    var reportedBytes: Int64 = 0

    mutating func wroteAll() { contentBytes = contentLength ?? 0 }

    mutating func begins(_ response: Response, _ framing: BodyFraming) {
        status = response.status
        contentLength =
            switch framing {
            case .none, .tunnel: 0
            case .length(let length): length
            case .chunked, .untilClose: nil
            }
    }
}
