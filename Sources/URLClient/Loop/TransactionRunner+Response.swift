internal import HTTPCodecs
internal import HTTPParser

// From the head of a response to what becomes of it.
extension TransactionRunner {
    /// How much content is read for nothing, so that the connection can be used again.
    static var discardLimit: Int { 64 << 10 }

    func interimReceived(_ status: HTTPStatus, _ head: ResponseFields) {
        task.interimReceived(ClientResponse.Interim(status: status, head: head))
    }

    /// How much content there will be.
    func expectedLength(of status: HTTPStatus, _ transfer: CurlTransfer) -> Int64? {
        guard sent.method != .head, !status.forbidsContent else { return 0 }
        return transfer.isCoded && decodes ? nil : transfer.contentLength
    }

    /// In a callback.
    func headReceived(_ response: ClientResponse, _ transfer: CurlTransfer) {
        slot?.isHTTP2 = response.version == .http2
        self.response = response
        if task.wantsMetrics { noteSecurity(transfer) }
        // The delegate is told of all that was sent before it is told of the answer.
        if upload != nil, task.isWatched { task.notifyProgress(isLast: false) }
        if asksWithoutExpecting(response, transfer) { return }
        decide(response)
    }

    /// Has decided what becomes of a response.
    func decide(_ response: ClientResponse) {
        switch decider.decide(response, to: sent, in: context) {
        case .now(let decision): apply(decision)
        case .later(let ask):
            holds.insert(.decision)
            wait(for: ask) { runner, decision in
                runner.apply(decision)
                runner.releaseUnlessAsking()
            }
        }
    }

    /// Sends the request again without `Expect` where that was refused (RFC 9110 section 10.1.1), if
    /// the content is still there. Where it is not, the task fails: libcurl would throw the response
    /// away and begin again by itself, in the middle.
    private func asksWithoutExpecting(_ response: ClientResponse, _ transfer: CurlTransfer) -> Bool
    {
        guard response.status == .expectationFailed, transfer.settings.expectationWait != nil,
            let upload
        else { return false }
        guard upload.position == 0 || sent.body.isReplayable else {
            let error = ClientError(
                .bodyNotReplayable, "417 Expectation Failed, and the content can be sent once")
            transfer.failure = error
            fail(error)
            return true
        }
        keepsUpload = upload.position == 0
        var next = context.request
        next.expectation = .never
        purpose = .discarding(.request(next, .retry, after: .zero))
        // libcurl would send it again by itself otherwise, and as it was.
        stopDiscarding(transfer)
        return true
    }

    /// After a decision that took time: on with it, unless it has led to another question.
    private func releaseUnlessAsking() {
        if isAsking { isAsking = false } else { release(.decision) }
    }

    /// Whether content coding is taken off. A file is what the server sends, unless the request has
    /// asked for a coding: that of a `.tar.gz` belongs to it.
    private var decodes: Bool {
        if let decodes = sent.decodesContent { return decodes }
        guard configuration.decodesContent else { return false }
        return !sink.isFile || sent.fields[.acceptEncoding] != "identity"
    }

    private func apply(_ decision: TransactionDecision) {
        guard let response else { return }
        switch decision {
        case .deliver(let recorder):
            if let recorder, task.events != nil, sink.asksForDisposition {
                return offer(response, to: recorder)
            }
            self.recorder = recorder
            deliver(response)
        case .follow(let next, let reason, let delay):
            let sequel = Sequel.request(next, reason, after: delay)
            guard reason == .redirect, task.events != nil else { return discard(then: sequel) }
            limitAsking()
            ask({ await $0.willRedirect(to: next, from: response) }) { runner, answer in
                runner.askedSince = nil
                if let answer {
                    let kept = answer.withoutSecrets(of: next)
                    runner.discard(then: .request(kept, reason, after: delay))
                } else {
                    runner.deliver(response)
                }
            }
        case .serve(let stored, let content): discard(then: .stored(stored, content: content))
        case .fail(let error): fail(error)
        }
    }

    /// Asks the delegate whether a response may be stored, then delivers it.
    private func offer(_ response: ClientResponse, to recorder: any ContentRecorder) {
        limitAsking()
        ask({ await $0.mayStore(response) }) { runner, isStored in
            runner.askedSince = nil
            if isStored { runner.recorder = recorder } else { recorder.abandon() }
            runner.deliver(response)
        }
    }

    /// Asks the delegate while the response is held.
    private func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (TaskEvents) async -> Answer,
        then use: @escaping @Sendable (TransactionRunner, Answer) -> Void
    ) {
        guard let events = task.events else { return }
        if holds.contains(.decision) { isAsking = true }
        holds.insert(.decision)
        wait(for: { await question(events) }) { runner, answer in
            use(runner, answer)
            runner.releaseUnlessAsking()
        }
    }

    /// About a redirect, or what is stored, the delegate may think as long as a server may say
    /// nothing.
    func limitAsking() {
        askedSince = loop.now
        loop.look(at: loop.now + limits.idle)
    }

    // MARK: thrown away

    private func discard(then sequel: Sequel) {
        purpose = .discarding(sequel)
        guard let transfer else { return }
        if transfer.contentLength ?? 0 > Int64(Self.discardLimit) { stopDiscarding(transfer) }
    }

    /// Ends the transfer; what it was for is known.
    func stopDiscarding(_ transfer: CurlTransfer) {
        transfer.failure = transfer.failure ?? ClientError(.internalFailure, "not read to its end")
        pendingFailure = transfer.failure
        loop.callAfterwards(self)
    }

    // MARK: delivered

    func deliver(_ response: ClientResponse) {
        if let file = sink as? FileSink, file.isWhole(by: response) {
            return discard(then: .whole(response))
        }
        if let next = restarted(response) {
            return discard(then: .request(next, .retry, after: .zero))
        }
        purpose = .delivering
        task.setResponse(response)
        (sink as? FileSink)?.isDecoded = transfer?.isCoded ?? false && decodes
        if let error = openDecoder(response) ?? sink.begin(response) { return fail(error) }
        if sink.startOffset == 0 { delivered = 0 } else { notifyResumption() }
        task.counters.expectToReceive(response.expectedLength, after: sink.startOffset)
        guard sink.asksForDisposition, !sink.isDecided, task.events != nil else { return }
        ask({ await $0.disposition(for: response) }) { $0.apply($1) }
    }

    /// The request for the whole, when a server gives the rest of something else, or has none.
    private func restarted(_ response: ClientResponse) -> ClientRequest? {
        guard sent.fields.contains(.range), let file = sink as? FileSink,
            file.continuation != nil
        else { return nil }
        switch response.status {
        case .partialContent where file.isOutdated(by: response): break
        case .rangeNotSatisfiable: break
        default: return nil
        }
        var next = context.request
        next.fields.remove(.range)
        next.fields.remove(.ifRange)
        return next
    }

    private func notifyResumption() {
        guard let file = sink as? FileSink, file.notifiesResumption,
            let download = task as? DownloadTask
        else { return }
        file.notifiesResumption = false
        task.events?.resumed(download, at: file.offset, of: file.length)
    }

    private func apply(_ disposition: ResponseDisposition) {
        sink.isDecided = true
        switch disposition {
        case .allow: break
        case .cancel: fail(ClientError(.cancelled, "by the delegate, after the head"))
        case .becomeDownload(let path):
            guard let response, !(task is DownloadTask) else { return }
            let file = FileSink(to: path, resuming: nil)
            file.isDecided = true
            let download = task.becomeDownload(file, isTemporary: path == nil)
            task = download
            sink = file
            if let error = file.begin(response) { return fail(error) }
            // The delegate has the new task in hand, and can cancel it, before anything is written.
            ask({ await $0.allIsNotified() }) { _, _ in }
        }
    }

    private func openDecoder(_ response: ClientResponse) -> ClientError? {
        // A part of coded content cannot be decoded. A download that is coded though it asked for
        // content as it is never goes on with a part.
        guard let transfer, transfer.isCoded, decodes, response.status != .partialContent else {
            return nil
        }
        // The fields of an answer to HEAD, or without content, tell of content that does not come.
        guard sent.method != .head, !response.status.forbidsContent, transfer.contentLength != 0
        else { return nil }
        // A coding that is not known is the application's business.
        guard let codings = Decoding.codings(of: response), !codings.isEmpty else { return nil }
        guard codings.count <= Decoding.codingLimit else {
            return ClientError(.decodingFailed, "more than \(Decoding.codingLimit) content codings")
        }
        let limits = ContentDecodingLimits(
            outputBytes: contentLimit ?? .max, ratio: max(1, configuration.decodingRatio),
            ratioFloor: max(0, configuration.decodingFloor))
        do throws(CodecError) {
            decoding = try Decoding(codings, limits, Self.pool)
            return nil
        } catch {
            return ClientError(.internalFailure, "\(error)")
        }
    }

    // MARK: an answer without the network

    func serve(_ stored: ClientResponse, _ content: StoredContent) {
        stage = .running
        response = stored
        purpose = .delivering
        task.setResponse(stored)
        if let error = sink.begin(stored) { return finish(error) }
        task.counters.expectToReceive(stored.expectedLength, after: 0)
        served = content
        let ending = Ending(error: nil, trailers: stored.trailers)
        if sink.asksForDisposition, !sink.isDecided, task.events != nil {
            ask({ await $0.disposition(for: stored) }) { $0.apply($1) }
            self.ending = ending
        } else if holdsServing {
            self.ending = ending
        } else {
            conclude(ending)
        }
    }

    // MARK: the end of a transfer

    /// Outside of callbacks.
    func transferEnded(_ transfer: CurlTransfer, _ code: TransferResult.Code) {
        guard self.transfer === transfer else { return }
        let result = TransferResult(code: code, message: transfer.handle.errorMessage)
        noteMetrics(transfer)
        if result.isSuccess, sink.stream == nil {
            loop.noteAnswer(after: loop.now - transfer.startTime)
        }
        let ending = Ending(
            error: error(of: result, transfer), trailers: transfer.trailers)
        pendingFailure = nil
        removeTransfer()
        if let error = ending.error, let refusal = transfer.tunnelRefusal {
            return tunnelRefused(refusal, error)
        }
        guard !holds.contains(.decision) else {
            self.ending = ending
            return
        }
        conclude(ending)
    }

    /// A proxy has made no tunnel: the same again with credentials, or the end.
    private func tunnelRefused(_ refusal: ClientResponse, _ error: ClientError) {
        guard refusal.status == .proxyAuthenticationRequired else { return failed(error) }
        switch decider.tunnelRefused(refusal, to: sent, in: context) {
        case .now(let decision): apply(decision, error)
        case .later(let ask): wait(for: ask) { $0.apply($1, error) }
        }
    }

    private func apply(_ decision: TunnelDecision, _ error: ClientError) {
        switch decision {
        case .again(let next):
            context = context.counting(.authentication)
            begin(next)
        case .fail(let other): failed(other ?? error)
        }
    }

    func conclude(_ ending: Ending) {
        guard stage != .over else { return }
        if let error = pendingFailure {
            pendingFailure = nil
            return failed(error)
        }
        switch purpose {
        case .discarding(let sequel): follow(sequel)
        case .delivering:
            if let error = ending.error { return failed(error) }
            if let content = served {
                served = nil
                return give(content, ending)
            }
            finishContent(ending.trailers)
        case .undecided:
            failed(ending.error ?? ClientError(.emptyResponse, "no head of a response"))
        }
    }

    /// All of a file was there before.
    private func acceptWhole(_ response: ClientResponse) {
        guard let file = sink as? FileSink else { return }
        switch file.acceptWhole(response) {
        case .failure(let error): finish(error)
        case .success(let source):
            purpose = .delivering
            self.response = source
            task.setResponse(source)
            finishContent(HTTPFields())
        }
    }

    private func follow(_ sequel: Sequel) {
        switch sequel {
        case .stored(let response, let content):
            served = nil
            serve(response, content)
        case .whole(let response): acceptWhole(response)
        case .request(let next, let reason, let delay):
            if let response {
                context = context.adding(
                    TransactionRecord(request: sent, response: response, reason: reason))
            }
            context = context.counting(reason)
            if !keepsUpload {
                upload?.close()
                upload = nil
            }
            begin(next, after: delay)
        }
    }

    /// Begins a transaction after a while.
    func begin(_ next: ClientRequest, after delay: Duration) {
        guard delay > .zero else { return begin(next) }
        stage = .preparing
        wait(for: { try? await Task.sleep(for: delay) }) { runner, _ in runner.begin(next) }
    }
}

extension ClientRequest {
    /// A delegate's answer to a redirect. What the proposed request has for its origin goes to no
    /// other one that the delegate names; what the delegate has set itself does.
    fileprivate func withoutSecrets(of proposed: ClientRequest) -> ClientRequest {
        guard let origin, let other = proposed.origin, origin != other else { return self }
        var request = self
        if credential == proposed.credential { request.credential = nil }
        if connectTo == proposed.connectTo, !origin.isUpgrade(of: other) { request.connectTo = nil }
        return request
    }
}
