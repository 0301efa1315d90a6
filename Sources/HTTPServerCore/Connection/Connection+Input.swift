internal import HTTPParser
internal import Logging

/// The input side: bytes become heads, content and ends.
extension Connection {
    func receive() {
        guard let transport else { return }
        if isReadingLongContent { return receiveContent(transport) }
        guard wantsInput else { return watch(interest.subtracting(.read)) }
        // Another protocol gets the bytes in the tail before later bytes.
        if upgraded != nil, unsafe !tail.isEmpty { return resume() }
        let room = unsafe loop.receiveRoom
        switch unsafe transport.receive(into: room) {
        case .done(0): peerEnded()
        case .done(let count):
            noteReceived(count)
            let bytes = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            guard let upgraded else { return unsafe received(UnsafeRawBufferPointer(bytes)) }
            unsafe upgraded.receive(bytes)
            flush()
        case .wouldBlock: break
        case .failed: perform(unsafe state.lostPeer(buffers))
        }
    }

    /// Reads without an event: input may have come after the last events were reported.
    func receiveWithoutEvent() {
        unsafe loop.turn.arrival = .max
        receive()
    }

    /// Whether to read. Input stays in the system while the handler or the peer reads too slowly.
    var wantsInput: Bool {
        guard unsafe state.takesInput else { return false }
        switch unsafe state.input {
        case .content: return unsafe exchange?.content.isFull != true
        case .head:
            return unsafe !(state.isBusy || hasOutput) || tail.count < EventLoop.receiveSize
        case .discarded: return true
        case .upgraded: return upgraded?.wantsInput == true
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) {
        if unsafe tail.isEmpty {
            // Only the event of a plain socket reports the first byte; other transports buffer
            // bytes. An empty line before a request is not part of the request.
            let isReported = unsafe transport is SocketTransport && bytes[0] > 0x20
            let used = unsafe process(
                bytes, arrival: isReported ? loop.turn.arrival : .max, into: &loop.sendBuffer)
            if unsafe !state.isClosed, used < bytes.count {
                unsafe tail.append(UnsafeRawBufferPointer(rebasing: bytes[used...]))
            }
        } else {
            unsafe tail.append(bytes)
            processTail()
        }
        flush()
        answerHeldRequests()
        giveTailToUpgraded()
    }

    /// Continues with input and output that had to wait.
    func resume() {
        // All connections of the loop share the buffer: another one would send this one's output.
        guard unsafe !state.isClosed else { return unsafe loop.sendBuffer.removeAll() }
        processTail()
        flush()
        guard unsafe !state.isClosed else { return }
        // The peer has ended its stream within the content. Written output is sent first.
        if unsafe state.peerHasEnded && state.input == .content && !hasOutput,
            unsafe exchange?.content.isFull != true
        {
            return abort(.connectionLost)
        }
        if wantsInput { watch(interest.union(.read)) }
        answerHeldRequests()
        giveTailToUpgraded()
        perform(unsafe state.settled(buffers))
    }

    /// Answers requests that were held back because enough was written for one turn.
    private func answerHeldRequests() {
        guard unsafe state.phase == .idle, unsafe !tail.isEmpty, !hasOutput else { return }
        loop.execute { [self] in resume() }
    }

    private func processTail() {
        guard unsafe !tail.isEmpty else { return }
        let used = unsafe process(tail.unsafeBytes, arrival: .max, into: &loop.sendBuffer)
        guard unsafe !state.isClosed else { return }
        unsafe tail.consume(used)
        if unsafe tail.isEmpty { unsafe tail = ByteBuffer() }
    }

    /// Parses all messages in the bytes, including an incomplete last one.
    /// - Parameter arrival: a time by which the first byte had arrived; `.max` if none is known.
    /// - Returns: how many of the bytes were used.
    private func process(
        _ bytes: UnsafeRawBufferPointer, arrival: UInt64, into out: inout ByteBuffer
    ) -> Int {
        var position = 0
        while position < bytes.count, unsafe !state.isClosed {
            switch unsafe state.input {
            case .discarded:
                unsafe state.dropped(bytes.count - position)
                if !wantsInput { watch(interest.subtracting(.read)) }
                return bytes.count
            // The other protocol writes into `out`, so its bytes wait until this call ends.
            case .upgraded: return position
            case .content:
                guard unsafe takeContent(bytes, &position, into: &out) else { return position }
            case .head:
                // Responses wait for the peer to read: answering further requests would only pile
                // up memory and open files.
                let isBehind = hasOutput || out.count > Self.highWater
                if unsafe state.isBusy || isBehind { return position }
                guard unsafe takeHead(bytes, &position, arrival, &out) else { return position }
            }
        }
        return position
    }

    private func takeHead(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, _ arrival: UInt64,
        _ out: inout ByteBuffer
    ) -> Bool {
        let arrival = position == 0 ? arrival : .max
        var rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[position...])
        let start = unsafe rest.baseAddress.unsafelyUnwrapped
        do throws(HTTPParseError) {
            let head: RequestHead
            if let partial {
                guard let length = try unsafe partial.parser.parse(rest) else { return false }
                head = unsafe RequestHead(partial.parser, bytes: start, length: length)
                self.partial = nil
                position += length
            } else {
                unsafe loop.headParser.reset()
                guard let length = try unsafe loop.headParser.parse(rest) else {
                    // Old clients send an empty line after a request (RFC 9112 section 2.2); it
                    // does not begin another request.
                    if unsafe rest.elementsEqual("\r\n".utf8) {
                        position = bytes.count
                        return false
                    }
                    partial = PartialHead(loop.exchangeHeadParser())
                    perform(unsafe state.receivedPartOfHead())
                    return false
                }
                head = unsafe RequestHead(loop.headParser, bytes: start, length: length)
                position += length
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
            unsafe begin(head, arrival, &rest, &out)
            position = bytes.count - rest.count
        } catch {
            refuse(error, into: &out)
        }
        return true
    }

    /// Answers a head that cannot be parsed. Nothing after it can be trusted.
    private func refuse(_ error: HTTPParseError, into out: inout ByteBuffer) {
        logRefusal("refused a request", error)
        partial = nil
        perform(unsafe state.refusedHead(.malformedRequest))
        answerUnread(HTTPError(error.suggestedStatus, error.description), into: &out)
    }

    // MARK: The end of the peer's stream

    func peerEnded() {
        watch(interest.subtracting(.read))
        let hasRequests = unsafe HeadParser.hasWholeHead(tail.unsafeBytes[...])
        perform(unsafe state.peerEnded(buffers, hasRequests: hasRequests))
    }

    /// Whether another request follows; evaluated only after the peer has ended its stream.
    func isFollowed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        unsafe state.peerHasEnded && HeadParser.hasWholeHead(bytes)
    }
}
