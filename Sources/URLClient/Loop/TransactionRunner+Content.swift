internal import HTTPCodecs
internal import HTTPParser

// The content of a response on its way to the sink.
extension TransactionRunner {
    /// Begins to deliver a response.
    func begin(_ response: ClientResponse, _ plan: StoragePlan?) -> ClientError? {
        task.setResponse(response)
        content.begin(
            plan.flatMap {
                loop.configuration.cache?.recorder(
                    $0.head, announced: $0.announced, since: $0.moment)
            })
        if let transfer, transfer.isCoded,
            loop.configuration.decodes(machine.sent, isFile: sink.isFile)
        {
            (sink as? FileSink)?.isDecoded = true
            if let error = content.openDecoder(
                response, to: machine.sent, transfer, loop.configuration)
            {
                return error
            }
        } else {
            (sink as? FileSink)?.isDecoded = false
        }
        if let error = unaskedPart(response) ?? sink.begin(response) { return error }
        if let note = (task as? DownloadTask)?.onResumable {
            (sink as? FileSink)?.noteResumability(note)
        }
        if sink.startOffset == 0 { content.delivered = 0 } else { notifyResumption() }
        task.counters.expectToReceive(response.expectedLength, after: sink.startOffset)
        return nil
    }

    /// The error of a partial response to a download that asked for the whole file (RFC 9110
    /// section 15.3.7).
    func unaskedPart(_ response: ClientResponse) -> ClientError? {
        guard sink.isFile, response.status == .partialContent,
            !machine.sent.fields.contains(.range)
        else { return nil }
        return ClientError(.badResponse, "got 206 for a request without Range")
    }

    private func notifyResumption() {
        guard let file = sink as? FileSink, file.notifiesResumption,
            let download = task as? DownloadTask
        else { return }
        file.notifiesResumption = false
        task.events?.resumed(download, at: file.offset, of: file.length)
    }

    /// Called in a callback of libcurl.
    func contentReceived(_ bytes: UnsafeRawBufferPointer) {
        if machine.isDelivering {
            task.counters.receive(bytes.count)
            if let error = unsafe deliver(bytes) { abort(error) }
            keepRate(bytes.count)
            noteProgress()
        } else if machine.isDiscarding {
            step(.content(bytes.count))
        }
    }

    private func keepRate(_ count: Int) {
        guard let end = rate?.add(count, at: loop.now) else { return }
        content.rateEnd = end
        loop.look(at: end)
        pause(.rate)
    }

    /// Ends the pause that keeps the rate limit.
    func endRatePause() {
        content.rateEnd = nil
        step(.released(.rate))
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) -> ClientError? {
        apply(unsafe content.take(bytes, to: sink, limit: contentLimit))
    }

    private var contentLimit: Int64? {
        machine.sent.contentLimit ?? loop.configuration.contentLimit
    }

    private func apply(_ effect: ContentFlow.Effect) -> ClientError? {
        switch effect {
        case .none: return nil
        case .failed(let error): return error
        case .held(let isFull, let recorder):
            if isFull { pause(.reader) } else { loop.callAfterwards(self) }
            guard let recorder else { return nil }
            pause(.recorder)
            recorder.onceCaughtUp { self.loop.post { self.step(.released(.recorder)) } }
            return nil
        }
    }

    func finishContent(_ trailers: HTTPFields) -> TransactionInput? {
        if let error = apply(content.finishDecoding(to: sink, limit: contentLimit)) {
            return .contentFinished(failure(error))
        }
        if !trailers.isEmpty, var response = task.response {
            response.trailers = trailers
            task.setResponse(response)
        }
        if let error = sink.finish(trailers: trailers) { return .contentFinished(failure(error)) }
        content.finishRecording(trailers)
        return .contentFinished(nil)
    }

    /// Accepts the partial file of a download as complete.
    func acceptFile(_ response: ClientResponse) -> TransactionInput? {
        guard let file = sink as? FileSink else { return nil }
        let result = file.acceptWhole(response)
        if case .success(let source) = result { task.setResponse(source) }
        return .fileAccepted(result)
    }

    /// Passes on the content that the sink has kept, when no more arrives for the moment.
    func handOn() {
        if case .full = sink.flush() { pause(.reader) }
        guard sink.isAwaited else { return }
        sink.isAwaited = false
        // A reader that is notified immediately would call back before the loop can be entered.
        let waits = loop.inline.expectsReader(of: self) && startPull()
        guard let stream = sink.stream else { return }
        if waits { loop.inline.notifyAfterLeaving(stream) } else { stream.notifyReader() }
    }

    // MARK: content that the reader fetches itself

    /// Leaves further content in the socket for at most 10 milliseconds, so that the reader can
    /// fetch it.
    /// - Returns: false if the reader waits already, or there is no stream.
    @discardableResult
    func startPull() -> Bool {
        guard let transfer, let stream = sink.stream, stream.startPull() else { return false }
        let end = loop.now + 10_000_000
        content.pullEnd = end
        loop.look(at: end)
        pause(.reader)
        transfer.applyPauses(atOnce: true)
        return true
    }

    /// Receives again: the reader has returned, or has not returned in time.
    func endPull() {
        content.pullEnd = nil
        guard !machine.isOver, sink.stream?.endPull() ?? true else { return }
        step(.released(.reader))
    }

    // MARK: content that did not come from a connection

    func pour(_ stored: StoredContent, _ trailers: HTTPFields) -> TransactionInput? {
        switch stored {
        case .bytes(let bytes):
            task.counters.receive(bytes.count)
            if let error = unsafe bytes.withUnsafeBytes({ unsafe deliver($0) }) {
                return .contentFinished(failure(error))
            }
            return finishContent(trailers)
        case .file(let file):
            content.reading = ContentFlow.StoredReading(file: file, trailers: trailers)
            readStored()
            return nil
        }
    }

    /// Reads the next part of a stored file, unless the flow is paused.
    func readStored() {
        guard let reading = content.reading, !reading.isWaiting, !machine.pausesReceiving else {
            return
        }
        guard reading.offset < reading.file.count else {
            content.reading = nil
            if let input = finishContent(reading.trailers) { step(input) }
            return
        }
        content.reading?.isWaiting = true
        Task {
            let piece = await reading.file.piece(at: reading.offset)
            self.loop.post { self.storedContentRead(piece) }
        }
    }

    private func storedContentRead(_ piece: [UInt8]) {
        guard !machine.isOver, content.reading != nil else { return }
        content.reading?.isWaiting = false
        guard !piece.isEmpty else {
            return step(
                .contentFinished(
                    failure(ClientError(.truncated, "the stored content cannot be read"))))
        }
        task.counters.receive(piece.count)
        if let error = unsafe piece.withUnsafeBytes({ unsafe deliver($0) }) {
            return step(.contentFinished(failure(error)))
        }
        content.reading?.offset += Int64(piece.count)
        noteProgress()
        readStored()
    }
}
