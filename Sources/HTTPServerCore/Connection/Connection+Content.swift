internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// The content of a request, as it comes and as the handler asks for it.
extension Connection {
    // MARK: Content that comes

    func takeContent(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, into out: inout ByteBuffer
    ) -> Bool {
        guard let exchange, !exchange.isFull else { return false }
        unsafe state.receivedContent()
        do throws(HTTPParseError) {
            switch try unsafe exchange.body.next(bytes, from: &position) {
            case .more: return false
            case .content(let range):
                unsafe deliver(UnsafeRawBufferPointer(rebasing: bytes[range]), to: exchange)
                if unsafe exchange.body.isComplete { contentEnded(exchange) }
            case .end: contentEnded(exchange)
            }
        } catch {
            contentFailed(exchange, error)
        }
        if exchange.isCollecting { answerCollected(exchange, into: &out) }
        return true
    }

    func deliver(_ piece: [UInt8], to exchange: Exchange) {
        guard exchange.connection != nil else { return discard(piece.count, of: exchange) }
        exchange.deliver(piece)
        if let told = core.hooks.contentReceived { tellReceived(exchange, told) }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, to exchange: Exchange) {
        guard exchange.connection != nil else { return discard(bytes.count, of: exchange) }
        unsafe exchange.deliver(bytes)
        if let told = core.hooks.contentReceived { tellReceived(exchange, told) }
    }

    /// Content that no handler reads any more.
    private func discard(_ count: Int, of exchange: Exchange) {
        exchange.received += Int64(count)
        if exchange.received > exchange.rateMark + ConnectionState.discardLimit { finish() }
    }

    func contentEnded(_ exchange: Exchange) {
        exchange.completeInput(trailers: unsafe exchange.body.trailers)
        if deadlineKind == .content { setDeadline(.none, 0) }
        if let next = unsafe state.receivedEnd() { proceed(next) }
    }

    func contentFailed(_ exchange: Exchange, _ error: HTTPParseError) {
        logRefusal("refused content", error)
        closeReason = .malformedRequest
        unsafe state.inputFailed()
        // No handler waits for it any more, but the previous answer must arrive.
        if exchange.connection == nil { return proceed(.closeLingering) }
        exchange.failInput(RequestBodyError.malformed(error))
    }

    /// Long content of known length goes from the system straight into the pieces that the
    /// handler gets.
    var isReadingLongContent: Bool {
        guard unsafe state.input == .content, unsafe tail.isEmpty, let exchange, !exchange.isFull
        else {
            return false
        }
        return (exchange.contentLeft ?? 0) >= 16 << 10
    }

    /// Reads on for a handler that has taken all there was, as long as the system seems to have
    /// more: that saves waiting for an event for each piece.
    func readAhead() {
        guard let exchange, exchange.readAheadLeft > 0, isReadingLongContent, let transport else {
            return
        }
        let left = exchange.readAheadLeft - 1
        receiveContent(transport)
        exchange.readAheadLeft = min(exchange.readAheadLeft, left)
    }

    func receiveContent(_ transport: any Transport) {
        guard let exchange else { return }
        exchange.readAheadLeft = 0
        let room = Int(min(exchange.contentLeft ?? 0, Int64(EventLoop.receiveSize)))
        var result = IOResult.wouldBlock
        var piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            result = unsafe transport.receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .done(let received) = result { count = received }
        }
        switch result {
        case .done(0): return peerEnded()
        case .failed: return peerWasLost()
        case .wouldBlock: return
        case .done(let count):
            noteReceived(count)
            // A small piece must not keep a large block alive. One piece for each event: with
            // more of them alive the allocator would give memory back and fault it in again.
            if count < room / 2 { piece = Array(piece[...]) }
            if count == room { exchange.readAheadLeft = Self.readAheadLimit }
        }
        unsafe state.receivedContent()
        advance(exchange, by: piece)
        flush()
    }

    func advance(_ exchange: Exchange, by piece: [UInt8]) {
        do throws(HTTPParseError) {
            var position = 0
            _ = try unsafe exchange.body.next(piece.span, from: &position)
            deliver(piece, to: exchange)
            if unsafe exchange.body.isComplete { contentEnded(exchange) }
        } catch {
            contentFailed(exchange, error)
        }
        if exchange.isCollecting { answerCollected(exchange, into: &loop.sendBuffer) }
    }

    // MARK: Content on demand

    /// The handler waits for content.
    func contentIsWanted() {
        if unsafe state.wantsContent() {
            do throws(HTTPMessageError) {
                unsafe try serializer.interim(.continue, into: &loop.sendBuffer)
            } catch {
                return abort(.responseFailed)
            }
        }
        if deadlineKind == .none { judgeContent() }
        goOn()
    }

    /// The handler took a piece: there is room for more.
    func contentWasTaken() {
        guard exchange?.isFull == false, unsafe !interest.contains(.read) || !tail.isEmpty
        else { return }
        goOn()
    }

    func judgeContent() {
        exchange?.rateMark = exchange?.received ?? 0
        setDeadline(.content, core.graceTime)
    }
}
