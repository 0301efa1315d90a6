internal import HTTPParser
internal import ToolkitSystem

// The phase of a transfer, and the reason of its failure.
extension CurlTransfer {
    /// The phase that the transfer has reached.
    var phase: ClientError.Phase {
        if isHeadDone || times.responseStart > 0 { return .receiving }
        if handle.requestTime > 0 {
            let sends = upload.map { !$0.isAtEnd } ?? false
            return sends ? .sending : .waiting
        }
        // libcurl reports the time of the connection only when TLS is done, too.
        if handle.tlsStart > 0 || handle.connectTime > 0 { return .securing }
        return handle.lookupTime > 0 ? .connecting : .resolving
    }

    /// The times that deadlines are counted from.
    /// - Parameter lastEvent: the time of the socket's last event. libcurl reports a line only once
    ///   it is complete.
    func progressTimes(lastEvent: Int64) -> TransferProgressTimes {
        TransferProgressTimes(
            start: times.start, stage: stage, lastActivity: max(times.lastActivity, lastEvent),
            isPaused: isPaused)
    }

    private var stage: TransferProgressTimes.Stage {
        guard !isHeadDone else { return .transferring }
        switch phase {
        case .resolving, .connecting: return .connecting
        case .securing: return .securing(since: handle.tlsStart)
        case .waiting:
            return .waiting(
                since: max(times.uploadEnd, times.start + handle.requestTime * 1000))
        default: return .transferring
        }
    }

    /// The error that libcurl's result stands for; nil for success.
    func error(of result: TransferResult) -> ClientError? {
        if let failure { return placed(failure) }
        guard !result.isSuccess else {
            guard isInsideHead else { return nil }
            let text = "the head of the response is cut off"
            return placed(ClientError(.truncated, text, curlCode: 18))
        }
        let systemError = handle.operatingSystemError
        let phase = phase
        var kind = ClientError.Kind(
            curl: result.code, verification: handle.verificationResult,
            message: result.message, isLost: systemError?.isConnectionLost ?? false,
            wasConnected: phase != .resolving && phase != .connecting,
            isInHead: !isHeadDone && handle.requestTime > 0)
        if case .timedOut = kind, phase == .securing { kind = .timedOut(.tls) }
        if isHeadDone, kind == .emptyResponse { kind = .truncated }
        if let refusal = tunnelRefusal {
            let asks = refusal.status == .proxyAuthenticationRequired
            kind = asks ? .authenticationRequired : .proxyRefused
        }
        // A request that the server's GOAWAY leaves unprocessed fails like one whose connection was
        // lost.
        if handle.isUnprocessed, !isHeadDone { kind = .connectionLost }
        var text = result.text(for: kind)
        if kind == .cannotConnect, let systemError { text += ": \(systemError.reason)" }
        return placed(ClientError(kind, text, curlCode: result.number))
    }

    /// The error, with the transfer's phase, the bytes sent, and whether a retry is safe.
    func placed(_ error: ClientError) -> ClientError {
        var error = error
        error.phase = phase
        error.bytesSent = upload?.position ?? 0
        error.isSafeToRetry =
            error.phase == .resolving || error.phase == .connecting || error.phase == .securing
            || (handle.isUnprocessed && !isHeadDone)
        return error
    }
}

extension ClientError {
    /// The error for a setting that libcurl does not accept.
    init(refusal code: TransferResult.Code) {
        let result = TransferResult(code: code, message: "")
        self.init(.notSupported, result.text(for: .notSupported), curlCode: result.number)
    }
}
