internal import HTTPParser
internal import Synchronization
internal import ToolkitSystem
internal import WebSocketFrames

// Output, and its back-pressure.
extension WebSocketConnection {
    /// Sends the output, or returns `false` if the sender has to wait; then nothing was sent.
    func write(_ output: Output) throws -> Bool {
        guard let carrier, canSend else { throw WebSocketClosedError(end: end) }
        guard writers.isEmpty, carrier.waitingBytes <= Self.highWater,
            turnBytes <= Self.highWater
        else { return false }
        try append(output, to: carrier)
        return true
    }

    private func append(_ output: Output, to carrier: any WebSocketCarrier) throws {
        var failure: WebSocketSendError?
        carrier.write { out in
            let before = out.count
            do throws(WebSocketSendError) {
                try unsafe machine.send(output, into: &out)
            } catch {
                failure = error
            }
            turnBytes += out.count - before
        }
        flush(carrier)
        if let failure { throw failure == .closed ? WebSocketClosedError(end: end) : failure }
    }

    func write(_ output: Output, _ writer: Writer) {
        guard let carrier, canSend else {
            return writer.resume(throwing: WebSocketClosedError(end: end))
        }
        do {
            try append(output, to: carrier)
        } catch {
            return writer.resume(throwing: error)
        }
        // The connection may have broken meanwhile; then nothing would resume the writer later.
        if self.carrier != nil, carrier.waitingBytes > Self.highWater {
            writers.append(writer)
        } else if turnBytes <= Self.highWater {
            writer.resume()
        } else {
            // A peer that reads as fast as this side writes must not block the loop for others.
            turnBytes = 0
            if !loop.hand({ writer.resume() }) { writer.resume() }
        }
    }

    private var canSend: Bool { unsafe machine.phase == .open && !isMute }

    /// Called when nothing can be sent any more; earlier input may still be read.
    package func outputBroke() {
        isMute = true
        releaseWriters()
        pongs.fail(WebSocketClosedError(end: end))
    }

    /// Sends the written output, and reports the sent bytes to the machine.
    func flush(_ carrier: any WebSocketCarrier) {
        carrier.flush()
        noteSent(carrier)
        moveDeadline()
    }

    private func noteSent(_ carrier: any WebSocketCarrier) {
        let left = carrier.waitingBytes
        waiting.store(left, ordering: .relaxed)
        let sent = unsafe machine.unsentCount - left
        if sent > 0 { unsafe machine.sent(sent, at: now) }
    }

    /// Called when the peer has taken enough of the output that more can be written.
    package func hasRoom() {
        guard let carrier else { return }
        noteSent(carrier)
        moveDeadline()
        if carrier.waitingBytes <= Self.highWater / 2 {
            let waiting = writers
            writers = []
            for writer in waiting { writer.resume() }
        }
        inboxHasRoom()
    }

    /// Whether a task or input waits for the peer to take output.
    package var waitsForRoom: Bool { !writers.isEmpty || !held.isEmpty }

    func releaseWriters() {
        let waiting = writers
        writers = []
        for writer in waiting { writer.resume(throwing: WebSocketClosedError(end: end)) }
    }

    // MARK: Pings

    /// Sends a ping, and waits for its pong.
    /// - Throws: `WebSocketClosedError`; `CancellationError` when the task is cancelled.
    package func pingAndWait() async throws {
        try await PongWaits.Waiting.value { reader, wait in
            onLoop {
                self.ping(reader, wait)
            } orElse: {
                reader.resume(throwing: WebSocketClosedError(end: self.end))
            }
        } onCancel: { wait in
            onLoop { self.pongs.cancel(wait) }
        }
    }

    private func ping(_ reader: PongWaits.Waiting.Reader, _ wait: PongWaits.Waiting.Wait) {
        guard !wait.isCancelled else { return reader.resume(throwing: CancellationError()) }
        guard let carrier, canSend else {
            return reader.resume(throwing: WebSocketClosedError(end: end))
        }
        // Registers the wait first: sending may find that the connection is gone, which ends all
        // waits.
        let payload = pongs.begin(reader, wait)
        do {
            try append(.ping(payload), to: carrier)
            unsafe pongs.written(after: machine.pingCount)
        } catch {
            pongs.fail(error)
        }
    }
}

extension WebSocketMachine {
    fileprivate mutating func send(
        _ output: WebSocketConnection.Output, into out: inout ByteBuffer
    ) throws(WebSocketSendError) {
        switch output {
        case .message(let message): try send(message, into: &out)
        case .piece(let piece):
            try send(piece: piece.bytes.span, of: piece.kind, isLast: piece.isLast, into: &out)
        case .ping(let payload): try ping(payload, into: &out)
        }
    }
}
