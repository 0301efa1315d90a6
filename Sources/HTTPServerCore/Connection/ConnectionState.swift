package import HTTPParser

/// The state of a connection as a value: events in, actions out (RFC 9112 section 9).
///
/// It has no sockets, bytes or clock. `Connection` reports events and carries out the returned
/// steps. Docs/ConnectionStates.md shows all states and events, generated from this code.
package struct ConnectionState: Sendable {
    /// How far the connection is with a request and its response.
    package enum Phase: Equatable, Sendable, CaseIterable {
        /// No request is under way.
        case idle
        /// Part of a head has come.
        case head
        /// The head is complete, content is to come, and the response has not begun.
        case receiving
        /// The request is complete, and the response has not begun.
        case handling
        /// The response has begun before the end of the content.
        case respondingEarly
        /// The response has begun after the end of the request.
        case responding
        /// The response is complete. The rest of the content is read and dropped.
        case discarding
        /// All further input is dropped. The last response has not begun.
        case refusing
        /// All further input is dropped, and the last response has begun.
        case respondingLast
        /// The last response is complete. The connection closes once it is sent.
        case closing
        /// As `closing`, with unread input: an immediate close would reset the connection and
        /// destroy the response on its way (RFC 9112 section 9.6).
        case closingUnread
        /// The output has ended, and the peer has some time to read the last response.
        case lingering
        /// Another protocol has taken over (RFC 9110 section 7.8).
        case upgraded
        /// Nothing can happen any more.
        case closed
    }

    /// The meaning of incoming bytes.
    package enum Input: Equatable, Sendable {
        /// The head of the next request.
        case head
        /// Content of the request that is being answered.
        case content
        /// The bytes are dropped: the connection is about to close.
        case discarded
        /// Bytes of the protocol that has taken over.
        case upgraded
    }

    /// The event that a deadline waits for.
    package enum Deadline: Equatable, Sendable {
        case none, head, idle, content, write, linger, upgrade
    }

    /// The reaction to an event.
    package enum Action: Equatable, Sendable {
        case none
        /// Forget the request, and wait for the next one.
        case awaitRequest
        /// Forget the request, and drop the rest of its content.
        case discardContent
        /// Forget the request, and read no further requests.
        case endInput
        /// Send 100 Continue, and read.
        case sendContinue
        /// Give the error to the handler that reads the content.
        case failContent
        /// Compare the received content with the required rate.
        case checkRate
        /// Answer with 408.
        case answerTimeout
        /// Read once more before closing: a request may have come.
        case readOnce
        /// Process the requests that wait in the input buffer.
        case resume
        /// End the output, and drop what the peer still sends.
        case linger
        /// Ask the protocol that has taken over to end.
        case endUpgrade
        /// Notify the protocol that has taken over that its deadline has passed.
        case upgradeDeadline
        /// Close immediately.
        case close(ConnectionCloseReason)
    }

    /// The action and the deadline that an event causes.
    package struct Step: Equatable, Sendable {
        package var action = Action.none
        /// The deadline to set, counted from now; `nil` leaves the deadline unchanged.
        package var deadline: Deadline?

        static let none = Step()
    }

    /// The content of the connection's buffers.
    package struct Buffers: Equatable, Sendable {
        /// Received bytes that were not parsed yet.
        package var hasInput = false
        /// Output that the peer has not taken yet.
        package var hasOutput = false

        package init(hasInput: Bool = false, hasOutput: Bool = false) {
            self.hasInput = hasInput
            self.hasOutput = hasOutput
        }
    }

    /// How many bytes of content are read and dropped to keep a connection open.
    package static let discardLimit: Int64 = 64 << 10
    /// Bytes that are read and dropped after the last response. Further bytes stay in the socket,
    /// which stops the peer.
    package static let droppedLimit = 64 << 10

    package internal(set) var phase = Phase.idle
    package internal(set) var deadline = Deadline.head
    var isPersistent = true
    /// Whether the request being answered is HTTP/1.0.
    var isHTTP10 = false
    var owesContinue = false
    /// Whether the peer has ended its stream. It may still read the responses to earlier requests.
    package internal(set) var peerHasEnded = false
    /// Whether another request followed the current one.
    var isFollowed = false
    package internal(set) var isShuttingDown = false
    /// Why the connection will close, once that is known.
    var closeReason: ConnectionCloseReason?
    var droppedBytes = 0
    /// `Transport.unacknowledgedBytes` when the deadline of writing was set.
    package var unacknowledged = 0

    package init() {}

    // MARK: Questions

    package var input: Input {
        switch phase {
        case .idle, .head, .handling, .responding: .head
        case .receiving, .respondingEarly, .discarding: .content
        case .refusing, .respondingLast, .closing, .closingUnread, .lingering, .closed: .discarded
        case .upgraded: .upgraded
        }
    }

    /// Whether a request is being answered.
    package var isBusy: Bool {
        switch phase {
        case .receiving, .handling, .respondingEarly, .responding, .refusing, .respondingLast,
            .upgraded:
            true
        default: false
        }
    }

    package var isClosed: Bool { phase == .closed }

    /// Whether to read: the peer has not ended its stream, and `droppedLimit` is not exceeded.
    package var takesInput: Bool { !peerHasEnded && droppedBytes <= Self.droppedLimit }

    /// Whether an interim response can be sent now: the final response has not begun, and the
    /// client uses HTTP/1.1 (RFC 9110 section 15.2).
    package var takesInterim: Bool {
        (phase == .receiving || phase == .handling) && !isHTTP10
    }

    /// Whether no request can follow; the response then announces the close (RFC 9112 section
    /// 9.6).
    var isLast: Bool { peerHasEnded && !isFollowed }

    // MARK: Requests

    /// Part of a head has come.
    package mutating func receivedPartOfHead() -> Step {
        phase = .head
        return deadline == .head ? .none : setting(.head)
    }

    /// The head of a request is complete.
    /// - Parameter isFollowed: whether another request has come after it. Once the peer has ended
    ///   its stream, a request without one is the last.
    package mutating func receivedHead(
        isPersistent: Bool, version: HTTPVersion, hasContent: Bool, expectsContinue: Bool,
        isFollowed: Bool = false
    ) -> Step {
        self.isPersistent = isPersistent
        self.isFollowed = isFollowed
        isHTTP10 = version < .http11
        phase = hasContent ? .receiving : .handling
        owesContinue = hasContent && expectsContinue
        return setting(hasContent && !expectsContinue ? .content : .none)
    }

    /// A head was refused before its end was found, so no further input can be parsed.
    package mutating func refusedHead(_ reason: ConnectionCloseReason) -> Step {
        closeReason = reason
        isPersistent = false
        phase = .refusing
        return setting(.none)
    }

    /// A request was refused by its head: its content is not worth reading.
    package mutating func refusedContent() -> Step {
        guard phase == .receiving else { return .none }
        refuseInput()
        return setting(.none)
    }

    /// A handler waits for content.
    package mutating func wantsContent() -> Step {
        guard input == .content else { return .none }
        var step = deadline == .none ? setting(.content) : .none
        // RFC 9110 section 10.1.1: an interim response makes sense before the final one only.
        guard owesContinue, phase == .receiving else { return step }
        owesContinue = false
        step.action = .sendContinue
        return step
    }

    /// Content has come: the client did not wait for 100.
    package mutating func receivedContent() { owesContinue = false }

    /// The content is complete.
    package mutating func receivedEnd(_ buffers: Buffers = Buffers()) -> Step {
        owesContinue = false
        switch phase {
        case .receiving: phase = .handling
        case .respondingEarly: phase = .responding
        case .discarding: return ended(leavingContentDeadline(), buffers)
        default: return .none
        }
        return leavingContentDeadline()
    }

    /// The content is ill-formed.
    package mutating func contentFailed() -> Step {
        guard input == .content else { return .none }
        closeReason = .malformedRequest
        var step = leavingContentDeadline()
        if phase == .discarding {
            // The response, which is complete, must arrive.
            phase = .closingUnread
            step.action = .endInput
        } else {
            refuseInput()
            step.action = .failContent
        }
        return step
    }

    /// The content came too slowly although a reader waited for it, or no reader was left.
    package mutating func contentWasTooSlow() -> Step {
        closeReason = .timedOut(.content)
        // It is too late for an answer.
        guard phase == .receiving else { return Step(action: .close(.timedOut(.content))) }
        refuseInput()
        return Step(action: .failContent)
    }

    mutating func refuseInput() {
        isPersistent = false
        owesContinue = false
        phase = phase == .receiving ? .refusing : .respondingLast
    }

    // MARK: Responses

    /// The head of the response is about to be written.
    /// - Parameters:
    ///   - contentLeft: how much content of the request is to come, `nil` when that is unknown.
    ///   - endsWithClose: the content of the response ends with the connection.
    /// - Returns: the value of the Connection field of the response.
    package mutating func beginsResponse(
        contentLeft: Int64?, endsWithClose: Bool = false
    ) -> ResponseSerializer.ConnectionOption {
        switch phase {
        case .receiving:
            // A client that waits for 100 may send its content or not, so nothing after it can
            // be trusted; and too much content is not worth reading.
            let isTooMuch = (contentLeft ?? .max) > Self.discardLimit
            if owesContinue || isTooMuch { isPersistent = false }
            phase = .respondingEarly
        case .handling: phase = .responding
        case .refusing: phase = .respondingLast
        default: break
        }
        if isShuttingDown || endsWithClose || isLast { isPersistent = false }
        if !isPersistent { return .close }
        return isHTTP10 ? .keepAlive : .none
    }

    /// The response is completely written, but may not be sent yet.
    package mutating func endedResponse(_ buffers: Buffers = Buffers()) -> Step {
        switch phase {
        case .responding: return ended(.none, buffers)
        case .respondingEarly where isPersistent:
            phase = .discarding
            return setting(.content, .discardContent)
        case .respondingEarly, .respondingLast:
            closeReason = closeReason ?? .finished
            phase = .closingUnread
            return Step(action: .endInput)
        default: return .none
        }
    }

    /// Request and response are complete.
    mutating func ended(_ step: Step, _ buffers: Buffers) -> Step {
        if isPersistent, !isShuttingDown, !isLast {
            phase = .idle
            return setting(.idle, .awaitRequest)
        }
        closeReason = closeReason ?? .finished
        phase = buffers.hasInput ? .closingUnread : .closing
        return Step(action: .endInput, deadline: step.deadline)
    }
}
