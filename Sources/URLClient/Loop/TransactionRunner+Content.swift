internal import HTTPCodecs
internal import HTTPParser

// The content of a response, from the connection or from where it was stored, on its way to the sink.
extension TransactionRunner {
    static let pool = ContentCodingPool()

    var contentLimit: Int64? { sent.contentLimit ?? configuration.contentLimit }

    /// In a callback, or with content that was stored.
    func contentReceived(_ bytes: UnsafeRawBufferPointer, _ transfer: CurlTransfer) {
        switch purpose {
        case .discarding:
            discarded += bytes.count
            if discarded > Self.discardLimit { stopDiscarding(transfer) }
        case .delivering:
            task.counters.receive(bytes.count)
            unsafe pass(bytes)
            noteProgress()
        case .undecided: break
        }
        if let error = pendingFailure { transfer.failure = transfer.failure ?? error }
    }

    private func pass(_ bytes: UnsafeRawBufferPointer) {
        guard let decoding else { return unsafe give(bytes) }
        let content: [UInt8]
        do throws(CodecError) {
            let span = unsafe Span<UInt8>(
                _unsafeElements: bytes.bindMemory(to: UInt8.self))
            content = try decoding.decode(span)
        } catch {
            return fail(ClientError(decoding: error))
        }
        give(content)
    }

    private func give(_ content: [UInt8]) {
        guard !content.isEmpty else { return }
        unsafe content.withUnsafeBytes { unsafe give($0) }
    }

    private func give(_ bytes: UnsafeRawBufferPointer) {
        delivered += Int64(bytes.count)
        if let contentLimit, delivered > contentLimit {
            return fail(ClientError(.contentTooLong, "more than \(contentLimit) bytes"))
        }
        unsafe record(bytes)
        switch unsafe sink.take(bytes) {
        case .taken: if sink.isAwaited { loop.callAfterwards(self) }
        case .kept: loop.callAfterwards(self)
        case .full: holds.insert(.reader)
        case .failed(let error): fail(error)
        }
    }

    private func record(_ bytes: UnsafeRawBufferPointer) {
        guard let recorder else { return }
        unsafe recorder.record(bytes)
        guard recorder.isBehind else { return }
        holds.insert(.recorder)
        let loop = loop
        recorder.onceCaughtUp { loop.post { self.release(.recorder) } }
    }

    /// The reader has caught up.
    func sinkHasRoom() { release(.reader) }

    /// The reader gets the next piece by itself, if it comes for it soon. What comes meanwhile waits
    /// in the socket.
    @discardableResult
    func startPull() -> Bool {
        guard let transfer, let stream = sink.stream, stream.startPull() else { return false }
        let end = loop.now + 10_000_000
        pullEnd = end
        loop.look(at: end)
        holds.insert(.reader)
        transfer.applyHolds(stopsAtOnce: true)
        return true
    }

    /// The reader has come, or does other things.
    func endPull() {
        pullEnd = nil
        guard stage != .over, sink.stream?.endPull() ?? true else { return }
        release(.reader)
    }

    func finishContent(_ trailers: HTTPFields) {
        if let decoding {
            let content: [UInt8]
            do throws(CodecError) {
                content = try decoding.finish()
            } catch {
                return failed(ClientError(decoding: error))
            }
            give(content)
            if let error = pendingFailure { return failed(error) }
        }
        if !trailers.isEmpty, var response {
            response.trailers = trailers
            self.response = response
            task.setResponse(response)
        }
        if let error = sink.finish(trailers: trailers) { return failed(error) }
        if let recorder {
            recorder.finish(trailers: trailers)
            self.recorder = nil
        }
        finish(nil)
    }

    // MARK: content that was stored

    /// Delivers it, a file piece by piece as there is room.
    func give(_ content: StoredContent, _ ending: Ending) {
        switch content {
        case .bytes(let bytes):
            task.counters.receive(bytes.count)
            unsafe bytes.withUnsafeBytes { unsafe give($0) }
            if let error = takeFailure() { return failed(error) }
            finishContent(ending.trailers)
        case .file(let file):
            reading = StoredReading(file: file, ending: ending)
            readOn()
        }
    }

    /// Reads the next piece of stored content, unless somebody has to be waited for.
    func readOn() {
        guard let reading, holds.isEmpty, !reading.isWaiting else { return }
        guard reading.offset < reading.file.count else {
            self.reading = nil
            return finishContent(reading.ending.trailers)
        }
        self.reading?.isWaiting = true
        let (file, offset) = (reading.file, reading.offset)
        wait(for: { await file.piece(at: offset) }) { runner, piece in
            runner.reading?.isWaiting = false
            runner.gave(piece)
        }
    }

    private func gave(_ piece: [UInt8]) {
        guard !piece.isEmpty else {
            return failed(ClientError(.truncated, "what was stored cannot be read"))
        }
        task.counters.receive(piece.count)
        unsafe piece.withUnsafeBytes { unsafe give($0) }
        if let error = takeFailure() { return failed(error) }
        reading?.offset += Int64(piece.count)
        noteProgress()
        readOn()
    }

    private func takeFailure() -> ClientError? {
        defer { pendingFailure = nil }
        return pendingFailure
    }
}
