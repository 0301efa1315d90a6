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
        if let left = exchange.contentLeft, left > Int64(collector.limit) {
            return give(collector, .failure(collector.tooLong), into: &out)
        }
        exchange.collect(by: collector)
        if unsafe state.wantsContent() {
            do throws(HTTPMessageError) {
                unsafe try serializer.interim(.continue, into: &out)
            } catch {
                return abort(.responseFailed)
            }
        }
        if deadlineKind == .none { judgeContent() }
        answerCollected(exchange, into: &out)
    }

    /// Answers the request whose content was collected, if it is complete or cannot be.
    func answerCollected(_ exchange: Exchange, into out: inout ByteBuffer) {
        guard let (collector, content) = exchange.takeCollected() else { return }
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

/// A handler's closure that is called when the content of its request is complete.
struct ContentCollector {
    /// The request as it came.
    let request: Request
    let limit: Int
    let body: @Sendable (Result<[UInt8], any Error>) throws -> Answer

    /// The error for content that is longer than the limit.
    var tooLong: HTTPError {
        HTTPError(.contentTooLarge, "at most \(limit) bytes are taken here")
    }
}
