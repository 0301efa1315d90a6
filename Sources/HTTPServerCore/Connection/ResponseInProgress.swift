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
    /// Its figures, if an observer wants them.
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
    /// How much content the response has, where that was known before; 0 where none is sent.
    var contentLength: Int64? = 0
    /// Content that was written, gone or not.
    var contentBytes: Int64 = 0
    /// Content of the request that has come.
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
