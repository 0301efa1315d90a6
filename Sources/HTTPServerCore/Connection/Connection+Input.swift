internal import HTTPParser
internal import Logging

/// The input side: bytes become heads, content and ends.
extension Connection {
    func receive() {
        guard let transport else { return }
        if isReadingLongContent { return receiveContent(transport) }
        guard wantsInput else { return watch(interest.subtracting(.read)) }
        let room = unsafe loop.receiveRoom
        switch unsafe transport.receive(into: room) {
        case .done(0): peerEnded()
        case .done(let count):
            noteReceived(count)
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: room[..<count])
            unsafe received(bytes)
        case .wouldBlock: break
        case .failed: peerWasLost()
        }
    }

    /// Input is left in the system's buffer while a handler, or the peer's reading, is behind.
    var wantsInput: Bool {
        if unsafe state.peerHasEnded || lingered > Self.lingerBytes { return false }
        if unsafe state.input == .content { return exchange?.isFull != true }
        return unsafe !(state.isBusy || holdsRequests) || tail.count < EventLoop.receiveSize
    }

    /// Responses wait for the peer to read: answering further requests would only pile up memory
    /// and open files.
    var holdsRequests: Bool { hasOutput && closing == .no }

    func received(_ bytes: UnsafeRawBufferPointer) {
        if unsafe tail.isEmpty {
            let used = unsafe process(bytes, into: &loop.sendBuffer)
            if closing != .closed, used < bytes.count {
                unsafe tail.append(UnsafeRawBufferPointer(rebasing: bytes[used...]))
            }
        } else {
            unsafe tail.append(bytes)
            processTail()
        }
        flush()
        answerHeldRequests()
    }

    /// Requests that were held back because enough was written for one turn.
    func answerHeldRequests() {
        guard unsafe !tail.isEmpty, partial == nil, closing == .no else { return }
        guard unsafe state.input == .head, unsafe !state.isBusy, !holdsRequests else { return }
        loop.execute { [self] in goOn() }
    }

    func processTail() {
        guard unsafe !tail.isEmpty else { return }
        let used = unsafe process(tail.unsafeBytes, into: &loop.sendBuffer)
        guard closing != .closed else { return }
        unsafe tail.consume(used)
        if unsafe tail.isEmpty { unsafe tail = ByteBuffer() }
    }

    /// Reads as many messages, or as much of them, as there is.
    /// - Returns: how many of the bytes are done with.
    func process(
        _ bytes: UnsafeRawBufferPointer, into out: inout ByteBuffer
    ) -> Int {
        var position = 0
        while position < bytes.count, closing != .closed {
            switch unsafe state.input {
            case .discarded:
                lingered += bytes.count - position
                // Closed at once, what is still unread would reset the connection under the
                // answer (RFC 9112 section 9.6).
                if closing == .afterOutput { closing = .lingerAfterOutput }
                if !wantsInput { watch(interest.subtracting(.read)) }
                return bytes.count
            case .content:
                guard unsafe takeContent(bytes, &position, into: &out) else { return position }
            case .head:
                let isBehind = holdsRequests || out.count > Self.highWater
                if unsafe state.isBusy || isBehind { return position }
                guard unsafe takeHead(bytes, &position, into: &out) else { return position }
            }
        }
        return position
    }

    func takeHead(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, into out: inout ByteBuffer
    ) -> Bool {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
        do throws(HTTPParseError) {
            if let partial {
                guard let length = try unsafe partial.parser.parse(rest) else { return false }
                position += length
                self.partial = nil
                unsafe begin(
                    RequestHead(
                        partial.parser, bytes: rest.baseAddress.unsafelyUnwrapped, length: length),
                    isFollowed: position < bytes.count, &out)
                return true
            }
            unsafe loop.headParser.reset()
            guard let length = try unsafe loop.headParser.parse(rest) else {
                partial = PartialHead(loop.exchangeHeadParser())
                if deadlineKind != .head { setDeadline(.head, core.headTime) }
                return false
            }
            position += length
            unsafe begin(
                RequestHead(
                    loop.headParser, bytes: rest.baseAddress.unsafelyUnwrapped, length: length),
                isFollowed: position < bytes.count, &out)
        } catch {
            refuse(error, into: &out)
        }
        return true
    }

    /// A head that cannot be read: one answer, and nothing after it can be trusted.
    func refuse(_ error: HTTPParseError, into out: inout ByteBuffer) {
        logRefusal("refused a request", error)
        partial = nil
        isHead = false
        closeReason = .malformedRequest
        unsafe state.refusedInput()
        beginObserving(nil)
        answer(HTTPError(error.suggestedStatus, error.description), into: &out)
    }

    func peerEnded() {
        guard closing != .lingering else { return finish() }
        watch(interest.subtracting(.read))
        let hasTail = unsafe state.input == .head && !tail.isEmpty
        // Whole requests may wait there for their turn; `goOn` closes behind them.
        let hasRequests = hasTail && partial == nil
        let end = unsafe state.peerEnded(insideHead: hasTail, hasRequests: hasRequests)
        if !output.isEmpty, end != .truncated || hasTail { return }
        switch end {
        case .finishResponse where hasRequests: loop.execute { [self] in goOn() }
        case .finishResponse where closing == .no: break
        case .close: abort(.clientClosed)
        case .truncated: abort(.connectionLost)
        case .finishResponse: finish()
        }
    }

    /// Closes once everything that came before the end of the peer's stream is answered.
    func closeAfterPeer() {
        guard closing == .no, output.isEmpty, unsafe state.peerHasEnded && !state.isBusy else {
            return
        }
        if unsafe tail.isEmpty { return abort(.clientClosed) }
        if partial != nil { abort(.connectionLost) }
    }
}
