internal import HTTPCodecs
internal import HTTPParser

// What is done when something has gone wrong.
extension TransactionRunner {
    /// Ends the transaction: at once, or after the callback that is running.
    func fail(_ error: ClientError) {
        guard let transfer else { return failed(error) }
        // What is still on its way to here is for nobody.
        transfer.failure = transfer.failure ?? error
        pendingFailure = pendingFailure ?? placed(error, transfer)
        loop.callAfterwards(self)
    }

    /// The transaction has failed. Outside of callbacks, and without a transfer.
    func failed(_ error: ClientError) {
        guard stage != .over else { return }
        // How a transfer ended whose response was refused meanwhile is of no account.
        ending = nil
        if case .discarding = purpose, error.kind == .internalFailure {
            return conclude(Ending(error: nil, trailers: HTTPFields()))
        }
        let error = described(error)
        if triesNextTarget(after: error) || resumesDownload(after: error) { return }
        recorder?.abandon()
        recorder = nil
        // What the server has of an upload is not sent again.
        guard case .undecided = purpose, error.kind != .cancelled, stage != .fresh,
            task.shared.withLock({ $0.uploadURL == nil })
        else { return finish(error) }
        switch decider.recover(from: error, of: sent, in: context) {
        case .now(let recovery): apply(recovery, error)
        case .later(let ask): wait(for: ask) { $0.apply($1, error) }
        }
    }

    private func apply(_ recovery: TransactionRecovery, _ error: ClientError) {
        switch recovery {
        case .giveUp: finish(error)
        case .retry(let next, let delay):
            context = context.counting(.retry)
            begin(next, after: delay)
        case .serve(let stored, let content): serve(stored, content)
        }
    }

    /// Another endpoint, as long as nobody can have seen a byte of the request.
    private func triesNextTarget(after error: ClientError) -> Bool {
        guard case .undecided = purpose, error.isSafeToRetry, !targets.isEmpty else { return false }
        switch error.kind {
        // A proxy refuses what it cannot connect to.
        case .cannotConnect, .cannotFindHost, .timedOut(.connect), .timedOut(.tls),
            .secureConnectionFailed, .proxyRefused:
            break
        default: return false
        }
        epoch += 1
        if targetIndex + 1 < targets.count {
            targetIndex += 1
            prepareBody()
            return true
        }
        guard sent.connectTo == nil, let policy = configuration.endpoints,
            attempt + 1 < policy.attempts
        else { return false }
        attempt += 1
        askForTargets(policy)
        return true
    }

    /// The rest of a download, after its connection broke.
    private func resumesDownload(after error: ClientError) -> Bool {
        guard let file = sink as? FileSink, isReceiving(file),
            continuations < configuration.downloadContinuations
        else { return false }
        switch error.kind {
        case .connectionLost, .truncated, .badResponse, .timedOut(.idle), .cannotConnect,
            .cannotFindHost, .emptyResponse, .timedOut(.connect), .timedOut(.tls),
            .timedOut(.firstByte):
            break
        default: return false
        }
        guard sent.method == .get, let data = file.resumeData else { return false }
        continuations = file.offset > lastOffset ? 1 : continuations + 1
        // Only what was never reached before is progress: contents may come in turns.
        lastOffset = max(lastOffset, file.offset)
        file.prepareToResume(data)
        begin(
            request.resuming(data),
            after: continuations > 1 ? .milliseconds(100 << min(continuations, 6)) : .zero)
        return true
    }

    /// Whether a part of the content is there. Between two connections nothing is known of the next
    /// response yet.
    private func isReceiving(_ file: FileSink) -> Bool {
        switch purpose {
        case .delivering: true
        case .undecided: file.isOpen
        case .discarding: false
        }
    }

    // MARK: errors

    /// What libcurl's result means here; nil for success.
    func error(of result: TransferResult, _ transfer: CurlTransfer) -> ClientError? {
        if let failure = transfer.failure { return placed(failure, transfer) }
        guard !result.isSuccess else {
            guard transfer.isInsideHead else { return nil }
            let text = "the head of the response is cut off"
            return placed(ClientError(.truncated, text, curlCode: 18), transfer)
        }
        let number = transfer.handle.operatingSystemError
        let phase = transfer.phase
        var kind = ClientError.Kind(
            curl: result.code, verification: transfer.handle.verificationResult,
            message: result.message, isLost: System.connectionLostNumbers.contains(number),
            wasConnected: phase != .resolving && phase != .connecting,
            isInHead: !transfer.isHeadDone && transfer.handle.requestTime > 0)
        if case .timedOut = kind, phase == .securing { kind = .timedOut(.tls) }
        if transfer.isHeadDone, kind == .emptyResponse { kind = .truncated }
        if let refusal = transfer.tunnelRefusal {
            let asks = refusal.status == .proxyAuthenticationRequired
            kind = asks ? .authenticationRequired : .proxyRefused
        }
        // GOAWAY ends what it does not speak of as if it were a fault of the connection.
        if transfer.handle.isUnprocessed, !transfer.isHeadDone { kind = .connectionLost }
        var text = result.text(for: kind)
        if kind == .cannotConnect, number != 0 { text += ": \(System.text(of: CInt(number)))" }
        return placed(ClientError(kind, text, curlCode: result.number), transfer)
    }

    /// Says where a transaction was when it failed.
    private func placed(_ error: ClientError, _ transfer: CurlTransfer) -> ClientError {
        var error = error
        error.phase = transfer.phase
        error.bytesSent = upload?.position ?? 0
        error.isSafeToRetry =
            error.phase == .resolving || error.phase == .connecting || error.phase == .securing
            || (transfer.handle.isUnprocessed && response == nil)
        return error
    }

    /// Adds what holds for all errors of a transaction.
    private func described(_ error: ClientError) -> ClientError {
        var error = error
        if error.url == nil { error.url = sent.url }
        error.bytesReceived = delivered
        switch stage {
        case .fresh, .preparing, .parked: error.isSafeToRetry = true
        case .queued:
            error.isSafeToRetry = true
            error.phase = .queued
        case .running:
            // The transfer is over, and what it brought is being handed on.
            if error.phase == .preparing, response != nil { error.phase = .receiving }
        case .over: break
        }
        return error
    }

    // MARK: time

    func timedOut(_ limit: ClientTimeouts.Limit) {
        var error = ClientError(.timedOut(limit), curlCode: 28)
        if resolvingSince > 0 {
            // Who was asked for targets is not waited for any longer.
            (resolvingSince, epoch) = (0, epoch + 1)
            (error.phase, error.isSafeToRetry) = (.resolving, true)
        }
        if let transfer { error = placed(error, transfer) }
        noteMetrics(transfer)
        leaveQueue()
        removeTransfer()
        // A delegate that has not answered would not do so the second time, either.
        if limit == .total || limit == .queue || askedSince != nil {
            recorder?.abandon()
            return finish(described(error))
        }
        failed(error)
    }

    private func leaveQueue() {
        guard stage == .queued, let slot else { return }
        self.slot = nil
        loop.admission.leave(self, slot)
    }

    // MARK: the end

    func cancel() {
        guard stage != .over else { return }
        if stage == .fresh { loop.register(self) }
        var error = described(ClientError(.cancelled))
        if let transfer { error = placed(error, transfer) }
        noteMetrics(transfer)
        leaveQueue()
        removeTransfer()
        recorder?.abandon()
        recorder = nil
        finish(error)
    }

    /// The task is over.
    func finish(_ error: ClientError?) {
        guard stage != .over else { return }
        stage = .over
        epoch += 1
        var error = error
        upload?.close()
        upload = nil
        reading = nil
        if let failure = error {
            // What came before a redirect was done; only this transaction's request was not.
            if context.redirectCount > 0, !task.originalRequest.method.isIdempotent {
                error?.isSafeToRetry = false
            }
            if let file = sink as? FileSink, let data = file.resumeData {
                file.keepsPartial = task.keepsPartial ?? (failure.kind != .cancelled)
                if file.keepsPartial { error?.resumeData = data }
            }
            sink.abandon(error ?? failure)
        }
        if let metrics {
            metrics.values.duration = .nanoseconds(loop.now - startTime)
            metrics.values.redirectCount = context.redirectCount
        }
        loop.unregister(self)
        noteProgress(isLast: true)
        outcome = error
        loop.complete(self)
    }

    /// Tells the task that it is over.
    func notifyEnd() {
        task.complete(outcome, sink.collected, metrics?.values)
    }
}

extension ClientError {
    /// What a decoder says.
    init(decoding error: CodecError) {
        switch error.kind {
        case .truncated: self.init(.truncated, "the content coding is cut off")
        case .outputTooLong: self.init(.contentTooLong, "\(error)")
        default: self.init(.decodingFailed, "\(error)")
        }
    }
}
