internal import WebSocketConnections

// The time limits.
extension WebSocketRunner {
    /// Limits the time of the stage that begins now. The limit of the whole handshake still
    /// applies.
    func limitStage(by nanoseconds: Int64) {
        let (end, overflows) = loop.now.addingReportingOverflow(nanoseconds)
        trial.stageEnd = min(overflows ? .max : end, trial.totalEnd)
        loop.look(at: trial.stageEnd)
    }

    /// Checks the deadlines.
    func checkDeadlines() {
        if case .open(let connection) = stage {
            guard flow.outputEnd > loop.now else { return end() }
            if flow.outputEnd != .max { loop.look(at: flow.outputEnd) }
            if connection.deadline <= loop.monotonicTime { connection.deadlineReached() }
            return deadlineChanged()
        }
        if case .connecting = stage { limitTLS() }
        guard trial.stageEnd <= loop.now else { return loop.look(at: trial.stageEnd) }
        switch stage {
        case .idle, .open, .over: break
        case .finishing: end()
        case _ where trial.totalEnd <= loop.now: fail(ClientError(.timedOut(.total)))
        case .asking: break
        case .resolving: fail(ClientError(.timedOut(.connect), "finding the endpoint"))
        case .connecting:
            let isSecuring = handle.map { $0.tlsStart > 0 } == true
            let error = ClientError(.timedOut(isSecuring ? .tls : .connect))
            if !triesNext(after: error) { fail(error) }
        case .handshaking: fail(ClientError(.timedOut(.firstByte), "no response to the handshake"))
        }
    }

    /// Applies the limit of the TLS handshake, whose begin is detected only here.
    private func limitTLS() {
        guard let begun = handle?.tlsStart, begun > 0 else {
            return loop.look(at: loop.now + limits.tls)
        }
        let (end, overflows) = begun.addingReportingOverflow(limits.tls)
        if !overflows { trial.stageEnd = min(trial.stageEnd, end) }
    }
}
