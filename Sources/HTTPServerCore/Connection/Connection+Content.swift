internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// The content of a request: received from the client, and requested by the handler.
extension Connection: ExchangeOwner {
    // MARK: Received content

    func takeContent(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, into out: inout ByteBuffer
    ) -> Bool {
        guard let exchange, unsafe !exchange.content.isFull else { return false }
        unsafe state.receivedContent()
        do throws(HTTPParseError) {
            switch try unsafe exchange.body.next(bytes, from: &position) {
            case .more: return false
            case .content(let range):
                let piece = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                deliver(range.count, to: exchange) { unsafe exchange.content.append(piece) }
                if unsafe exchange.body.isComplete { contentEnded(exchange) }
            case .end: contentEnded(exchange)
            }
        } catch {
            contentFailed(exchange, error)
        }
        answerCollected(exchange, into: &out)
        return true
    }

    private func deliver(_ count: Int, to exchange: Exchange, _ append: () -> Void) {
        guard exchange.isOpen else { return discard(count, of: exchange) }
        append()
        if let report = core.observers.hooks.contentReceived { reportReceived(exchange, report) }
    }

    /// Drops content that no handler reads any more; closes the connection above `discardLimit`.
    private func discard(_ count: Int, of exchange: Exchange) {
        unsafe exchange.content.skip(count)
        if unsafe exchange.content.receivedSinceMark > ConnectionState.discardLimit { abort(nil) }
    }

    func contentEnded(_ exchange: Exchange) {
        unsafe exchange.content.complete(trailers: exchange.body.trailers)
        perform(unsafe state.receivedEnd(buffers))
    }

    func contentFailed(_ exchange: Exchange, _ error: HTTPParseError) {
        logRefusal("refused content", error)
        let step = unsafe state.contentFailed()
        perform(step)
        if step.action == .failContent {
            unsafe exchange.content.fail(RequestBodyError.malformed(error))
        }
    }

    /// Whether content is received directly into the handler's pieces, because at least 16 KiB of
    /// known length are left.
    var isReadingLongContent: Bool {
        guard unsafe state.input == .content, unsafe tail.isEmpty, let exchange,
            unsafe !exchange.content.isFull
        else {
            return false
        }
        return unsafe (exchange.content.left ?? 0) >= 16 << 10
    }

    /// Reads the next piece without an event when the handler has taken all pieces. The last read
    /// filled its buffer, so the system probably has more.
    private func readAhead() {
        guard let exchange, isReadingLongContent, let transport else { return }
        let left = unsafe exchange.content.readAheadLeft - 1
        receiveContent(transport)
        unsafe exchange.content.readAheadLeft = min(exchange.content.readAheadLeft, left)
    }

    func receiveContent(_ transport: any Transport) {
        guard let exchange else { return }
        unsafe exchange.content.readAheadLeft = 0
        let room = unsafe Int(min(exchange.content.left ?? 0, Int64(EventLoop.receiveSize)))
        var result = IOResult.wouldBlock
        var piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            result = unsafe transport.receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .done(let received) = result { count = received }
        }
        switch result {
        case .done(0): return peerEnded()
        case .failed: return perform(unsafe state.lostPeer(buffers))
        case .wouldBlock: return
        case .done(let count):
            noteReceived(count)
            // A small piece must not keep a large block alive. One piece for each event: with
            // more pieces alive, the allocator would return memory and fault it in again.
            if count < room / 2 { piece = Array(piece[...]) }
            if count == room { unsafe exchange.content.readAheadLeft = Self.readAheadLimit }
        }
        unsafe state.receivedContent()
        advance(exchange, by: piece)
        flush()
    }

    func advance(_ exchange: Exchange, by piece: [UInt8]) {
        do throws(HTTPParseError) {
            var position = 0
            _ = try unsafe exchange.body.next(piece.span, from: &position)
            deliver(piece.count, to: exchange) { unsafe exchange.content.append(piece) }
            if unsafe exchange.body.isComplete { contentEnded(exchange) }
        } catch {
            contentFailed(exchange, error)
        }
        unsafe answerCollected(exchange, into: &loop.sendBuffer)
    }

    // MARK: Content on demand

    func provide(_ need: ContentQueue.Need) {
        switch need {
        case .nothing: break
        case .readAhead: readAhead()
        case .input:
            unsafe requestContent(into: &loop.sendBuffer)
            resume()
        case .room:
            guard unsafe exchange?.content.isFull == false,
                unsafe !interest.contains(.read) || !tail.isEmpty
            else { return }
            resume()
        }
    }

    /// Sends 100 if the client waits for it, and sets the deadline for the content's rate.
    func requestContent(into out: inout ByteBuffer) {
        let step = unsafe state.wantsContent()
        perform(step)
        guard step.action == .sendContinue else { return }
        do throws(HTTPMessageError) {
            unsafe try response?.serializer.interim(.continue, into: &out)
        } catch {
            abort(.responseFailed)
        }
    }
}
