import HTTPParser
import HTTPServerCore

/// An event of a connection in the tables of tests and documents.
enum ConnectionEvent: Sendable {
    case partOfHead
    case head(
        isPersistent: Bool = true, version: HTTPVersion = .http11, hasContent: Bool = false,
        expectsContinue: Bool = false)
    case badHead
    case refused
    case contentWanted
    case contentCame
    case contentEnds(ConnectionState.Buffers = .nothing)
    case contentFails
    case contentTooSlow
    case contentFastEnough
    case responseBegins(contentLeft: Int64? = 0, endsWithClose: Bool = false)
    case responseEnds(ConnectionState.Buffers = .nothing)
    case outputSent
    case outputBlocked(hasProgress: Bool = false)
    case bytesDropped(Int = 1)
    case peerEnds(ConnectionState.Buffers = .nothing, hasRequests: Bool = false)
    case settled(ConnectionState.Buffers = .nothing)
    case serverStops(ConnectionState.Buffers = .nothing)
    case upgrades
    case upgradeEnds(leavesInput: Bool = false)
    case upgradeDeadlineMoves
    case deadline
    case peerLost(ConnectionState.Buffers = .nothing)
}

extension ConnectionState.Buffers {
    static var nothing: Self { Self() }
    static var input: Self { Self(hasInput: true) }
    static var output: Self { Self(hasOutput: true) }
    static var both: Self { Self(hasInput: true, hasOutput: true) }
}

extension ConnectionState {
    /// The state after some events.
    init(after events: [ConnectionEvent]) {
        self.init()
        for event in events { _ = take(event) }
    }

    /// Applies an event.
    /// - Returns: the state's reaction, such as "awaitRequest deadline idle -> idle".
    mutating func take(_ event: ConnectionEvent) -> String {
        var answer = answer(to: event)
        if phase != .closed { answer.append("-> \(phase)") }
        return answer.joined(separator: " ")
    }

    /// The action and the deadline that an event leads to.
    mutating func answer(to event: ConnectionEvent) -> [String] {
        switch event {
        case .responseBegins(let left, let endsWithClose):
            let option = beginsResponse(contentLeft: left, endsWithClose: endsWithClose)
            return option == .none ? [] : ["Connection: \(option)"]
        case .contentCame:
            receivedContent()
            return []
        case .bytesDropped(let count):
            dropped(count)
            return []
        default:
            guard let step = step(event) else { return [] }
            let deadline = step.deadline.map { "deadline \($0)" }
            return (step.action == .none ? [] : [step.action.text]) + (deadline.map { [$0] } ?? [])
        }
    }

    private mutating func step(_ event: ConnectionEvent) -> Step? {
        switch event {
        case .partOfHead: receivedPartOfHead()
        case .head(let isPersistent, let version, let hasContent, let expectsContinue):
            receivedHead(
                isPersistent: isPersistent, version: version, hasContent: hasContent,
                expectsContinue: expectsContinue)
        case .badHead: refusedHead(.malformedRequest)
        case .refused: refusedContent()
        case .contentWanted: wantsContent()
        case .contentEnds(let buffers): receivedEnd(buffers)
        case .contentFails: contentFailed()
        case .contentTooSlow: contentWasTooSlow()
        case .contentFastEnough: contentIsFastEnough()
        case .responseEnds(let buffers): endedResponse(buffers)
        case .outputSent: sentOutput()
        case .outputBlocked(let hasProgress): blockedOutput(hasProgress: hasProgress)
        case .peerEnds(let buffers, let hasRequests):
            peerEnded(buffers, hasRequests: hasRequests)
        case .settled(let buffers): settled(buffers)
        case .serverStops(let buffers): shutDown(buffers)
        case .upgrades: upgrade()
        case .upgradeEnds(let leavesInput): endedUpgrade(leavesInput: leavesInput)
        case .upgradeDeadlineMoves: upgradeDeadlineChanged()
        case .deadline: deadlineReached()
        case .peerLost(let buffers): lostPeer(buffers)
        case .contentCame, .bytesDropped, .responseBegins: nil
        }
    }
}

extension ConnectionState.Action {
    /// The action as text for a table.
    var text: String {
        guard case .close(let reason) = self else { return "\(self)" }
        if case .timedOut(let wait) = reason { return "close(timedOut: \(wait))" }
        return "close(\(reason))"
    }
}
