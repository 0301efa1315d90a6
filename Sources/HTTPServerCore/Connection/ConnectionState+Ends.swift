/// Output, deadlines and the end of a connection.
extension ConnectionState {
    // MARK: Output

    /// All output was sent.
    package mutating func sentOutput() -> Step {
        switch phase {
        case .closing: return Step(action: .close(finalReason))
        case .closingUnread:
            // The peer sends no more, so closing cannot destroy the response.
            if peerHasEnded { return Step(action: .close(finalReason)) }
            phase = .lingering
            return setting(.linger, .linger)
        case .lingering, .closed: return .none
        default: break
        }
        guard deadline == .write else { return .none }
        if phase == .upgraded { return setting(.upgrade) }
        if input == .content { return setting(.content) }
        if isBusy { return setting(.none) }
        return setting(phase == .head ? .head : .idle)
    }

    /// Whether the waiting output is the last.
    package var endsWithOutput: Bool { phase == .closing || phase == .closingUnread }

    /// Output waits for the peer.
    /// - Parameter hasProgress: whether the peer took some of the output.
    package mutating func blockedOutput(hasProgress: Bool) -> Step {
        hasProgress || deadline != .write ? setting(.write) : .none
    }

    // MARK: Ends

    /// Bytes arrived that are dropped.
    package mutating func dropped(_ count: Int) {
        droppedBytes += count
        if phase == .closing { phase = .closingUnread }
    }

    /// The peer has ended its stream; it may still read.
    /// - Parameter hasRequests: whether the buffered input has a whole head.
    package mutating func peerEnded(_ buffers: Buffers, hasRequests: Bool = false) -> Step {
        peerHasEnded = true
        switch phase {
        case .receiving, .respondingEarly, .discarding:
            // A handler must not mistake part of a request for all of it.
            return Step(action: .close(.connectionLost))
        case .upgraded: return Step(action: .close(.clientClosed))
        case .lingering: return Step(action: .close(finalReason))
        case .idle, .head:
            let mustParse = phase == .idle && buffers.hasInput && !buffers.hasOutput
            return mustParse ? Step(action: .resume) : settled(buffers)
        case .handling, .responding:
            isFollowed = hasRequests
            return .none
        case .refusing, .respondingLast, .closing, .closingUnread, .closed: return .none
        }
    }

    /// The connection has processed all input and output that it can for now.
    package func settled(_ buffers: Buffers) -> Step {
        let isWaiting = phase == .head || phase == .idle && !buffers.hasInput
        guard isWaiting, !buffers.hasOutput else { return .none }
        if isShuttingDown { return Step(action: .close(.shutdown)) }
        guard peerHasEnded else { return .none }
        return Step(action: .close(phase == .head ? .connectionLost : .clientClosed))
    }

    /// The server wants to stop: idle connections close now, busy ones after their response.
    package mutating func shutDown(_ buffers: Buffers) -> Step {
        switch phase {
        case .closing, .closingUnread, .lingering, .closed: return .none
        default: break
        }
        isShuttingDown = true
        closeReason = .shutdown
        if phase == .upgraded { return Step(action: .endUpgrade) }
        let mayHaveRequest = phase == .idle && !peerHasEnded && buffers == Buffers()
        return mayHaveRequest ? Step(action: .readOnce) : settled(buffers)
    }

    /// The deadline has passed.
    /// - Parameter isTaken: whether the peer has taken enough of the bytes sent before.
    package mutating func deadlineReached(isTaken: Bool = false) -> Step {
        let passed = deadline
        deadline = .none
        switch passed {
        case .none: return .none
        case .idle: return Step(action: .close(.timedOut(.idle)))
        case .write: return isTaken ? setting(.write) : Step(action: .close(.timedOut(.write)))
        case .linger: return Step(action: .close(finalReason))
        case .content: return Step(action: input == .content ? .checkRate : .none)
        case .upgrade: return Step(action: .upgradeDeadline)
        case .head:
            // A client that has sent nothing does not wait for an answer.
            guard phase == .head else { return Step(action: .close(.timedOut(.head))) }
            var step = refusedHead(.timedOut(.head))
            step.action = .answerTimeout
            return step
        }
    }

    /// The content came as fast as demanded.
    package mutating func contentIsFastEnough() -> Step { setting(.content) }

    /// The system reports that nothing can be sent or received any more.
    package func lostPeer(_ buffers: Buffers) -> Step {
        if phase == .lingering { return Step(action: .close(finalReason)) }
        let isIdle = phase == .idle && buffers == Buffers()
        return Step(action: .close(isIdle ? .clientClosed : .connectionLost))
    }

    /// The connection closes now.
    /// - Parameter reason: `nil` for the reason that is known already.
    /// - Returns: the reason to report; `nil` when the connection was closed before.
    package mutating func close(_ reason: ConnectionCloseReason?) -> ConnectionCloseReason? {
        guard phase != .closed else { return nil }
        // Once everything was sent, it does not matter how the peer closes.
        let final = phase == .lingering ? finalReason : reason ?? finalReason
        phase = .closed
        return final
    }

    var finalReason: ConnectionCloseReason { closeReason ?? .finished }

    // MARK: Other protocols

    /// Whether a handler can hand the connection to another protocol. HTTP/1.0 has no upgrade, and
    /// content of the request would be taken for bytes of the other protocol.
    package var takesUpgrade: Bool { phase == .handling && !isHTTP10 && !peerHasEnded }

    /// A handler hands the connection to another protocol (RFC 9110 section 7.8).
    package mutating func upgrade() -> Step {
        guard takesUpgrade else { return .none }
        phase = .upgraded
        return setting(.upgrade)
    }

    /// The protocol that has taken over has changed its deadline.
    package mutating func upgradeDeadlineChanged() -> Step {
        phase == .upgraded && deadline != .write ? setting(.upgrade) : .none
    }

    /// The protocol that has taken over has ended. Its output is sent before the close.
    /// - Parameter leavesInput: whether the peer may still send. An immediate close would answer
    ///   that input with a reset.
    package mutating func endedUpgrade(leavesInput: Bool) -> Step {
        guard phase == .upgraded else { return .none }
        closeReason = closeReason ?? .finished
        phase = leavesInput ? .closingUnread : .closing
        return deadline == .write ? Step(action: .endInput) : setting(.none, .endInput)
    }

    // MARK: Deadlines

    mutating func setting(_ deadline: Deadline, _ action: Action = .none) -> Step {
        self.deadline = deadline
        return Step(action: action, deadline: deadline)
    }

    mutating func leavingContentDeadline() -> Step {
        deadline == .content ? setting(.none) : .none
    }
}
