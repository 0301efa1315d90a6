internal import HTTPParser

/// Answers that need all of a request's content, but no task unless the content is decoded.
extension Connection {
    /// Collects the content of the request, and answers when it is complete.
    func collect(_ collector: ContentCollector, into out: inout ByteBuffer) {
        guard let exchange else { return }
        if exchange.decoding != nil {
            let answer = Answer.whenCollected(limit: collector.limit, collector.body)
            return start(
                { try await answer.response(to: $0) }, collector.request, for: collector.request)
        }
        unsafe exchange.content.collect(by: collector)
        answerCollected(exchange, into: &out)
        if unsafe exchange.content.isCollecting { requestContent(into: &out) }
    }

    /// Takes the content of the request from the bytes after its head, if all of it has arrived.
    func wholeContent(upTo limit: Int, _ rest: inout UnsafeRawBufferPointer) -> [UInt8]? {
        // Requests without content have no exchange.
        guard let exchange else { return [] }
        guard exchange.decoding == nil, unsafe !state.owesContinue,
            unsafe exchange.content.takeWhole(from: &rest, upTo: limit, into: &loop.content)
        else { return nil }
        if let report = core.observers.hooks.contentReceived { reportReceived(exchange, report) }
        perform(unsafe state.receivedEnd(buffers))
        return unsafe loop.content
    }

    /// Answers a request whose content is collected, if the content is complete or has failed.
    @inline(never)  // Each caller would have a copy of it.
    func answerCollected(_ exchange: Exchange, into out: inout ByteBuffer) {
        guard let (collector, content) = unsafe exchange.content.takeCollected() else { return }
        var rest = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        unsafe give({ try collector.body(content) }, to: collector.request, &rest, into: &out)
    }
}
