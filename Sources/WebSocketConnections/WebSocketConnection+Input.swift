internal import HTTPParser
internal import WebSocketFrames

// Input: bytes to messages, within the limits of the queues.
extension WebSocketConnection {
    /// Whether input may be read; otherwise it stays in the system's buffers, which stops the peer.
    package var wantsInput: Bool { held.isEmpty && hasRoomForInput }

    /// Whether the reader runs on the loop, and can answer a message before the next message is
    /// read.
    private var yieldsAfterMessages: Bool { unsafe machine.role == .server }

    private var hasRoomForInput: Bool {
        inbox.hasRoom && (carrier?.waitingBytes ?? 0) <= Self.highWater
    }

    /// Takes received bytes, and may change them in place. Call this only while `wantsInput`.
    package func receive(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let carrier else { return }
        var position = 0
        // An answer may make the connection ready for input, and the carrier would read it over
        // these bytes.
        held.isBeingRead = true
        unsafe read(bytes.bindMemory(to: UInt8.self), &position, carrier)
        held.isBeingRead = false
        guard self.carrier != nil else { return }
        if position < bytes.count {
            unsafe held.bytes = Array(bytes[position...])
            held.position = 0
            scheduleHeld()
        } else if held.hasRoomAfter {
            inboxHasRoom()
        }
        held.hasRoomAfter = false
    }

    /// Reads to the end of the input, or to a message after which the reader has to run.
    private func read(
        _ bytes: UnsafeMutableBufferPointer<UInt8>, _ position: inout Int,
        _ carrier: any WebSocketCarrier
    ) {
        carrier.write { out in
            var span = unsafe MutableSpan(_unsafeElements: bytes)
            while let event = unsafe machine.next(&span, from: &position, at: now, into: &out) {
                // The event may be the end, which fails all pings that are not answered.
                unsafe pongs.answered(machine.answeredPingCount)
                take(event)
                if event.endsMessage, yieldsAfterMessages || !inbox.hasRoom { break }
                if case .piece = event, !inbox.hasRoom { break }
            }
        }
        unsafe pongs.answered(machine.answeredPingCount)
        if unsafe machine.heldFault != nil, !inbox.holdsFault() { releaseFault(carrier) }
        flush(carrier)
        endIfDone()
    }

    private func releaseFault(_ carrier: any WebSocketCarrier) {
        var event: WebSocketEvent?
        carrier.write { event = unsafe machine.releaseFault(into: &$0) }
        if let event { take(event) }
    }

    /// Called when the reader has taken a message, or waits for one.
    func readerMovedOn() {
        if let carrier, unsafe machine.heldFault != nil, !inbox.holdsFault() {
            releaseFault(carrier)
            flush(carrier)
            endIfDone()
        }
        inboxHasRoom()
    }

    /// Drops the messages after the handler has returned, so that the peer's close frame is
    /// reached.
    package func abandonMessages() {
        inbox.abandon()
        inboxHasRoom()
    }

    /// Resumes reading if the limits allow it.
    func inboxHasRoom() {
        guard hasRoomForInput else { return }
        scheduleHeld()
        if held.isBeingRead { held.hasRoomAfter = true }
        if held.isEmpty { carrier?.readOn() }
    }

    /// Schedules reading after the tasks that are ready to run, one of which is the reader's.
    private func scheduleHeld() {
        guard !held.isEmpty, !held.isScheduled, !held.isBeingRead, hasRoomForInput else { return }
        held.isScheduled = true
        loop.handAfterTasks { self.readHeld() }
    }

    private func readHeld() {
        held.isScheduled = false
        guard let carrier else {
            held = HeldInput()
            return
        }
        guard hasRoomForInput else { return }
        // Moved out first, so that the bytes are not copied. Meanwhile the flag keeps other input
        // away.
        var (bytes, position): ([UInt8], Int) = ([], held.position)
        swap(&bytes, &held.bytes)
        held.isBeingRead = true
        unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe read(bytes, &position, carrier)
        }
        held.isBeingRead = false
        guard position < bytes.count, self.carrier != nil else {
            held = HeldInput()
            return carrier.readOn()
        }
        swap(&bytes, &held.bytes)
        held.position = position
        scheduleHeld()
    }

    func take(_ event: WebSocketEvent) {
        switch event {
        case .message(let message): inbox.append(.message(message))
        case .piece(let piece): inbox.append(.piece(piece))
        case .closed(let end): ended(end)
        case .pong(let payload): pongs.received(payload)
        case .ping: break
        }
    }
}

extension WebSocketEvent {
    /// Whether a message is complete, so that a reader may answer it.
    fileprivate var endsMessage: Bool {
        switch self {
        case .message: true
        case .piece(let piece): piece.isLast
        case .ping, .pong, .closed: false
        }
    }
}
