internal import HTTPParser

/// Answers that need all of the content of a request, and no task.
extension Connection {
    /// Collects the content of the request, and answers when it is complete.
    func collect(_ collector: ContentCollector, into out: inout ByteBuffer) {
        let request = collector.request
        // Requests without content have no exchange.
        guard let exchange else { return give(collector, .success([]), into: &out) }
        if exchange.decoding != nil {
            let answer = Answer.whenCollected(limit: collector.limit, collector.body)
            return start({ try await answer.response(to: $0) }, request, for: request)
        }
        if let left = unsafe exchange.content.left, left > Int64(collector.limit) {
            return give(collector, .failure(collector.tooLong), into: &out)
        }
        unsafe exchange.content.collect(by: collector)
        requestContent(into: &out)
        answerCollected(exchange, into: &out)
    }

    /// Answers the request whose content was collected, if it is complete or cannot be.
    func answerCollected(_ exchange: Exchange, into out: inout ByteBuffer) {
        guard let (collector, content) = unsafe exchange.content.takeCollected() else { return }
        give(collector, content, into: &out)
    }

    private func give(
        _ collector: ContentCollector, _ content: Result<[UInt8], any Error>,
        into out: inout ByteBuffer
    ) {
        do {
            give(try collector.body(content), to: collector.request, into: &out)
        } catch {
            answer(collector.request.response(for: error), to: collector.request, into: &out)
        }
    }
}
