package import HTTPParser

/// The state of a connection as a value: events in, decisions out (RFC 9112 section 9).
///
/// It knows nothing of sockets, bytes or time; `Connection` asks it and does what it says.
package struct ConnectionState: Sendable {
    /// The meaning of incoming bytes.
    package enum Input: Equatable, Sendable {
        /// The head of the next request.
        case head
        /// Content of the request that is being answered.
        case content
        /// The bytes are dropped: the connection is about to close.
        case discarded
    }

    /// The progress of the current response.
    private enum Output: Equatable, Sendable { case none, awaited, begun }

    /// The action when a response is complete.
    package enum Next: Equatable, Sendable {
        /// Read the next request.
        case nextRequest
        /// The rest of the content has to come in, and is thrown away, before the next request.
        case discardContent
        /// Close; the peer has nothing more to say.
        case close
        /// Say that no more comes, and let the peer read what was said before closing: closing
        /// with input unread would reset the connection and destroy the answer on its way.
        case closeLingering
    }

    /// The meaning of the end of the peer's stream.
    package enum End: Equatable, Sendable {
        /// Nothing was under way.
        case close
        /// A whole request waits for its answer, which is still wanted.
        case finishResponse
        /// It came inside a request: no handler may take that for a whole one.
        case truncated
    }

    /// How much content is read and thrown away to keep a connection, in bytes.
    package static let discardLimit: Int64 = 64 << 10

    package private(set) var input = Input.head
    private var output = Output.none
    private var isPersistent = true
    private var isHTTP10 = false
    private var owesContinue = false
    /// The peer has ended its stream; what it asked for before may still be to be answered.
    package private(set) var peerHasEnded = false
    /// Whether bytes followed the current request.
    private var isFollowed = false
    private(set) var isShuttingDown = false

    package init() {}

    /// Whether a request is being answered.
    package var isBusy: Bool { output != .none }

    /// Whether the answer has begun, so that no other can be given.
    package var hasBegunResponse: Bool { output == .begun }

    /// Whether a reader needs the incoming content.
    package var awaitsContent: Bool { input == .content }

    // MARK: Requests

    /// The head of a request is complete.
    /// - Parameter isFollowed: whether more bytes have come behind it. Once the peer has ended its
    ///   stream, a request without them is the last one.
    package mutating func receivedHead(
        isPersistent: Bool, version: HTTPVersion, hasContent: Bool, expectsContinue: Bool,
        isFollowed: Bool = false
    ) {
        self.isPersistent = isPersistent
        self.isFollowed = isFollowed
        isHTTP10 = version < .http11
        output = .awaited
        input = hasContent ? .content : .head
        owesContinue = hasContent && expectsContinue
    }

    /// The handler asks for content.
    /// - Returns: whether `100 Continue` has to be sent before (RFC 9110 section 10.1.1).
    package mutating func wantsContent() -> Bool {
        guard owesContinue, output == .awaited else { return false }
        owesContinue = false
        return true
    }

    /// Content has come: the client did not wait.
    package mutating func receivedContent() {
        owesContinue = false
    }

    /// The content is complete.
    /// - Returns: what follows if the response was complete before.
    package mutating func receivedEnd() -> Next? {
        input = .head
        owesContinue = false
        return output == .none ? next() : nil
    }

    // MARK: Responses

    /// The head of the response is about to be written.
    /// - Parameters:
    ///   - contentLeft: how much content of the request is to come, `nil` when that is unknown.
    ///   - endsWithClose: the content of the response ends with the connection.
    /// - Returns: what the head says about the connection.
    package mutating func beginsResponse(
        contentLeft: Int64?, endsWithClose: Bool = false
    ) -> ResponseSerializer.ConnectionOption {
        output = .begun
        if input == .content {
            // A client that waits for 100 may send its content or not, so nothing after it can
            // be trusted; and too much content is not worth reading.
            let isTooMuch = (contentLeft ?? .max) > Self.discardLimit
            if owesContinue || isTooMuch { isPersistent = false }
        }
        if isShuttingDown || endsWithClose || isLast { isPersistent = false }
        if !isPersistent { return .close }
        return isHTTP10 ? .keepAlive : .none
    }

    /// The response is written as far as we are concerned.
    package mutating func endedResponse() -> Next {
        output = .none
        if input == .content, isPersistent { return .discardContent }
        guard input == .head else {
            input = .discarded
            return .closeLingering
        }
        return next()
    }

    /// Whether an interim response can be sent now: the final one is still to come, and the client
    /// knows what interim ones are (RFC 9110 section 15.2).
    package var takesInterim: Bool { output == .awaited && !isHTTP10 }

    /// Whether the request being answered is of HTTP/1.0.
    package var isAnsweringHTTP10: Bool { isHTTP10 }

    /// The content cannot be read on: it is ill-formed, or too slow.
    package mutating func inputFailed() {
        isPersistent = false
        input = .discarded
    }

    /// A request was refused before its end could be found: nothing after it can be read.
    package mutating func refusedInput() {
        isPersistent = false
        output = .awaited
        input = .content
        owesContinue = false
    }

    /// Whether no request can follow: its answer says that the connection closes (RFC 9112 section
    /// 9.6).
    private var isLast: Bool { peerHasEnded && !isFollowed }

    private mutating func next() -> Next {
        if isPersistent, !isShuttingDown, !isLast { return .nextRequest }
        input = .discarded
        return .close
    }

    // MARK: Ends

    /// The peer has ended its stream; it may still read.
    /// - Parameters:
    ///   - insideHead: whether part of a head came last.
    ///   - hasRequests: whether requests wait that were not looked at yet.
    package mutating func peerEnded(insideHead: Bool, hasRequests: Bool = false) -> End {
        peerHasEnded = true
        if input == .content { return .truncated }
        isFollowed = hasRequests
        if isBusy || hasRequests { return .finishResponse }
        return insideHead ? .truncated : .close
    }

    /// The server wants to stop.
    /// - Returns: whether the connection is idle and may be closed at once.
    package mutating func beginsShutdown() -> Bool {
        isShuttingDown = true
        return !isBusy && input == .head
    }

    /// Whether the server wants to stop, and nothing is under way.
    package var isIdleAtShutdown: Bool { isShuttingDown && !isBusy && input == .head }

    /// The connection was given up.
    package mutating func closed() {
        input = .discarded
        output = .none
    }
}
