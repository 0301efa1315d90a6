internal import HTTPParser
internal import Logging

/// The output side: what was written goes out as the peer takes it.
extension Connection {
    /// Continues after something that was waited for: bytes that were kept back, output, input.
    func goOn() {
        // Output of a closed connection must not go out on the next one.
        guard closing != .closed else { return loop.sendBuffer.removeAll() }
        processTail()
        flush()
        guard closing != .closed else { return }
        if wantsInput { watch(interest.union(.read)) }
        answerHeldRequests()
        closeAfterPeer()
    }

    /// Sends what was written since the last event: one call for all of it.
    func flush() {
        guard closing != .closed, let transport else { return loop.sendBuffer.removeAll() }
        if !loop.sendBuffer.isEmpty {
            if output.isEmpty {
                sendDirectly(transport)
            } else {
                queue(&loop.sendBuffer)
            }
        }
        if output.isEmpty { return outputEnded() }
        sendPending()
    }

    func sendDirectly(_ transport: any Transport) {
        switch unsafe transport.send(loop.sendBuffer.unsafeBytes, more: false) {
        case .done(let count):
            noteSent(count)
            loop.sendBuffer.consume(count)
        case .wouldBlock: break
        case .failed:
            loop.sendBuffer.removeAll()
            return abort(.connectionLost)
        }
        if !loop.sendBuffer.isEmpty { queue(&loop.sendBuffer) }
        if loop.sendBuffer.isOversized { loop.sendBuffer = ByteBuffer(capacity: 32 << 10) }
    }

    func sendPending() {
        guard let transport, closing != .closed, !output.isEmpty else { return }
        let (progress, count) = output.send(to: transport)
        if count > 0 {
            noteSent(Int(count))
            if let told = core.hooks.contentSent { tellSent(told) }
        }
        if output.buffered <= Self.highWater / 2, output.waiting <= Self.fileHighWater / 2 {
            exchange?.resumeWriter()
        }
        switch progress {
        case .empty:
            watch(interest.subtracting(.write))
            if deadlineKind == .write { restoreDeadline() }
            outputEnded()
            if closing == .no, unsafe !tail.isEmpty || !interest.contains(.read) {
                loop.execute { [self] in goOn() }
            }
            closeWhenIdle()
        case .blocked:
            if count > 0 || deadlineKind != .write { setDeadline(.write, core.writeTime) }
            watch(interest.union(.write))
        case .failed: abort(.connectionLost)
        case .fileEnded:
            info.logger.warning("a file became shorter while it was sent")
            abort(.responseFailed)
        }
    }

    func restoreDeadline() {
        if unsafe state.input == .content {
            judgeContent()
        } else if unsafe state.isBusy {
            setDeadline(.none, 0)
        } else {
            setDeadline(.idle, core.idleTime)
        }
    }

    func outputEnded() {
        if unsafe observation != nil, unsafe !state.isBusy { endObserving() }
        switch closing {
        case .no, .closed, .lingering: break
        case .afterOutput: finish()
        // All that the peer had to say was read: closing cannot destroy the answer.
        case .lingerAfterOutput where unsafe state.peerHasEnded: finish()
        case .lingerAfterOutput:
            closing = .lingering
            transport?.shutdownWriting()
            setDeadline(.linger, Self.lingerTime)
            unsafe tail = ByteBuffer()
            watch(wantsInput ? .read : [])
        }
    }
}
