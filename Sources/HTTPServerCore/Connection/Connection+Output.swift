internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// The output side: written bytes are sent as fast as the peer takes them.
extension Connection {
    /// Sends the bytes that were written since the last event, with one system call if no earlier
    /// output waits and the peer takes all of them.
    package func flush() {
        guard let transport else { return unsafe loop.sendBuffer.removeAll() }
        if unsafe !loop.sendBuffer.isEmpty {
            if hasOutput { unsafe queue(&loop.sendBuffer) } else { sendDirectly(transport) }
        }
        if hasOutput { sendPending() } else { outputEnded() }
    }

    /// Moves the written bytes into the queue, so that other output can be queued after them.
    func queue(_ out: inout ByteBuffer) {
        unsafe output.append(out.unsafeBytes)
        out.removeAll()
    }

    private func sendDirectly(_ transport: any Transport) {
        if unsafe state.endsWithOutput { transport.sendsLast() }
        switch unsafe transport.send(loop.sendBuffer.unsafeBytes, more: false) {
        case .done(let count):
            unsafe loop.sendBuffer.consume(count)
            noteSent(count)
        case .wouldBlock: break
        case .failed:
            unsafe queue(&loop.sendBuffer)
            return abort(.connectionLost)
        }
        if unsafe !loop.sendBuffer.isEmpty { unsafe queue(&loop.sendBuffer) }
        if unsafe loop.sendBuffer.isOversized {
            unsafe loop.sendBuffer = ByteBuffer(capacity: 32 << 10)
        }
    }

    func sendPending() {
        guard let transport, hasOutput else { return }
        let (progress, count) = unsafe output.send(to: transport)
        if count > 0 {
            noteSent(Int(count))
            if let report = core.observers.hooks.contentSent { reportSent(report) }
        }
        if unsafe output.buffered <= Self.highWater / 2,
            unsafe output.waiting <= Self.fileHighWater / 2
        {
            exchange?.resumeWriters()
            // Read input before the writers fill the output again. The caller may be reading input,
            // so the next read waits until that read ends.
            if !interest.contains(.read), upgraded?.wantsInput == true {
                loop.execute { [self] in
                    receiveWithoutEvent()
                    upgraded?.hasRoom()
                }
            } else if count > 0 {
                upgraded?.hasRoom()
            }
        }
        // The protocol may have queued more output.
        switch progress == .empty && hasOutput ? .blocked : progress {
        case .empty:
            watch(interest.subtracting(.write))
            outputEnded()
            if unsafe state.input != .discarded, unsafe !tail.isEmpty || !interest.contains(.read) {
                loop.execute { [self] in resume() }
            }
            perform(unsafe state.settled(buffers))
        case .blocked:
            perform(unsafe state.blockedOutput(hasProgress: count > 0))
            watch(interest.union(.write))
        case .failed: abort(.connectionLost)
        case .fileFailed: fileFailed()
        }
    }

    func fileFailed() {
        loop.call { info.logger.warning("a file became shorter, or unreadable, while it was sent") }
        abort(.responseFailed)
    }

    private func outputEnded() {
        if unsafe response != nil, unsafe !state.isBusy {
            if unsafe response?.observation != nil { endObserving() }
            unsafe response = nil
        }
        perform(unsafe state.sentOutput())
    }

    func linger() {
        transport?.shutdownWriting()
        unsafe tail = ByteBuffer()
        watch(wantsInput ? .read : [])
    }
}
