internal import HTTPParser

// The transitions after a failure.
extension TransactionMachine {
    /// Whether nothing of a response was used yet.
    var isUndecided: Bool {
        switch state {
        case .idle, .preparing, .parked, .queued, .awaitingHead, .deciding: true
        case .delivering, .discarding, .over: false
        }
    }

    /// Handles the failure of a transaction whose transfer is over.
    mutating func fail(_ failure: TransactionFailure) -> TransactionAction {
        (question, ending, times.asking) = (nil, nil, nil)
        // The next step is known, and does not depend on the rest of the content.
        if case .discarding(let sequel) = state, failure.error.kind != .cancelled, !isExpired {
            return follow(sequel)
        }
        let error = described(failure.error)
        guard error.kind != .cancelled, !isExpired else { return complete(error) }
        if let action = nextEndpoint(after: error) { return action }
        if let action = continueDownload(after: error, failure.download) { return action }
        guard isUndecided, !isIdle, !failure.isKeptByServer else { return complete(error) }
        switch policy.recover(from: error, of: sent, context) {
        case .follow(let next, let reason, let delay):
            context.count(reason)
            return begin(next, after: delay)
        case .serve(let answer): return serve(answer)
        case .fail(let error): return complete(error)
        case .ask, .send, .deliver, .giveUp: return complete(error)
        }
    }

    /// The error, with the URL, the phase and the safety of a retry that follow from the state.
    private func described(_ error: ClientError) -> ClientError {
        var error = error
        if error.url == nil { error.url = sent.url }
        switch state {
        case .idle, .preparing, .parked: error.isSafeToRetry = true
        case .queued:
            error.isSafeToRetry = true
            error.phase = .queued
        case .awaitingHead, .deciding, .delivering, .discarding:
            // The transfer has ended, and its content is being delivered.
            if error.phase == .preparing, response != nil { error.phase = .receiving }
        case .over: break
        }
        return error
    }

    // MARK: downloads

    /// Asks for the rest of a download after its connection broke.
    private mutating func continueDownload(
        after error: ClientError, _ download: DownloadState?
    ) -> TransactionAction? {
        guard let download, isDelivering || isUndecided && download.isOpen else { return nil }
        let count = download.offset > continuation.offset ? 1 : continuation.count + 1
        guard count <= configuration.downloadContinuations else { return nil }
        switch error.kind {
        case .connectionLost, .truncated, .badResponse, .timedOut(.idle), .cannotConnect,
            .cannotFindHost, .emptyResponse, .timedOut(.connect), .timedOut(.tls),
            .timedOut(.firstByte):
            break
        default: return nil
        }
        guard sent.method == .get, let data = download.resumeData,
            !isRestRefused || sent.url != data.url
        else { return nil }
        continuation.count = count
        // An offset counts as progress only if it was never reached before, because the server's
        // content may alternate.
        continuation.offset = max(continuation.offset, download.offset)
        state = .preparing
        continuation.data = data
        return .continueDownload(data)
    }

    /// Whether the server has refused the rest of a download, and a retry is pointless.
    private var isRestRefused: Bool {
        guard let status = response?.status, status.class == .clientError else { return false }
        switch status {
        // Another range, or a later request, may succeed (RFC 9110 section 15.5.9, RFC 6585 section
        // 4).
        case .rangeNotSatisfiable, .requestTimeout, .tooManyRequests: return false
        default: return true
        }
    }

    mutating func downloadContinued() -> TransactionAction {
        guard let data = continuation.data.take() else { return .none }
        return begin(
            context.request.resuming(data, configuration.redirects),
            after: policy.delay(beforeContinuation: continuation.count))
    }

    // MARK: tunnels

    /// Handles a proxy's refusal to make a tunnel.
    mutating func tunnelRefused(
        _ response: ClientResponse, _ failure: TransactionFailure
    ) -> TransactionAction {
        guard response.status == .proxyAuthenticationRequired else { return fail(failure) }
        return tunnelDecided(policy.tunnelRefused(response, &context), failure)
    }

    /// Sends the request again with credentials, or fails.
    mutating func tunnelDecided(
        _ step: TransactionStep, _ failure: TransactionFailure
    ) -> TransactionAction {
        switch step {
        case .ask(let question): return ask(question, .tunnel(failure))
        case .follow(let next, _, _):
            context.count(.authentication)
            return begin(next)
        case .fail(let error): return fail(TransactionFailure(error, download: failure.download))
        default: return fail(failure)
        }
    }
}
