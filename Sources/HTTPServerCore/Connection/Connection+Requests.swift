internal import HTTPParser
internal import Synchronization

/// A request from its head to the answer of its handler.
extension Connection {
    /// - Parameter rest: the bytes after the head; content that is used is removed.
    func begin(
        _ head: consuming RequestHead, _ arrival: UInt64, _ rest: inout UnsafeRawBufferPointer,
        _ out: inout ByteBuffer
    ) {
        let framing = head.framing
        let hasContent = framing != .none && framing != .tunnel
        beginResponse(isHead: head.knownMethod == .head)
        let refusal = refusal(head)
        let step = unsafe state.receivedHead(
            isPersistent: head.isPersistent && framing != .tunnel, version: head.version,
            hasContent: hasContent, expectsContinue: head.expectsContinue,
            isFollowed: isFollowed(rest[...]))
        let exchange = hasContent ? newExchange(framing, announced: head.contentLength) : nil
        if let exchange, let decoding = core.decoding(head) { exchange.decoding = decoding }
        perform(step)
        let request = Request(
            Request.Storage(
                head: head, exchange: exchange, connection: info, number: info.countRequest(),
                arrival: arrival))
        beginObserving(request.storage)
        if let refusal {
            perform(unsafe state.refusedContent())
            return answer(refusal.response, to: request, into: &out)
        }
        unsafe give({ try unsafe handler.answer(request) }, to: request, &rest, into: &out)
    }

    /// Gets a handler's answer and carries it out.
    /// - Parameters:
    ///   - request: the request as it arrived.
    ///   - rest: the bytes after its head.
    func give(
        _ answer: () throws -> Answer, to request: Request, _ rest: inout UnsafeRawBufferPointer,
        into out: inout ByteBuffer
    ) {
        do {
            let answer = try loop.call(answer)
            awaitEnd(request)
            switch consume answer {
            case .now(let response): self.answer(response, to: request, into: &out)
            case .later(let work): start({ _ in try await work() }, request, for: request)
            case .laterFor(let routed, let work): start(work, routed, for: request)
            case .whenCollected(let limit, let body):
                if let content = unsafe wholeContent(upTo: limit, &rest) {
                    return unsafe give(
                        { try body(.success(content)) }, to: request, &rest, into: &out)
                }
                collect(ContentCollector(request: request, limit: limit, body: body), into: &out)
            }
        } catch {
            awaitEnd(request)
            let response = loop.call { request.response(for: error) }
            self.answer(response, to: request, into: &out)
        }
    }

    func refusal(_ head: borrowing RequestHead) -> HTTPError? {
        if let length = head.contentLength, length > core.bodyLimits.contentBytes {
            return HTTPError(
                .contentTooLarge, "at most \(core.bodyLimits.contentBytes) bytes are taken")
        }
        // RFC 9110 section 10.1.1: an expectation we do not know.
        if head.framingFields.flags.contains(.expectOther), head.version >= .http11 {
            return HTTPError(.expectationFailed, "only 100-continue can be expected")
        }
        return nil
    }

    /// - Parameters:
    ///   - work: makes the response.
    ///   - routed: the request as the handler saw it.
    ///   - request: the request as it arrived.
    func start(
        _ work: @escaping @Sendable (Request) async throws -> Response, _ routed: Request,
        for request: Request
    ) {
        let exchange = exchange ?? newExchange()
        exchange.task = Task(executorPreference: loop) {
            let response: Response
            do {
                response = try await work(routed)
            } catch {
                response = request.response(for: error)
            }
            self.onLoop { self.answerLater(response, to: request, exchange) }
        }
    }

    @discardableResult
    func newExchange(_ framing: BodyFraming = .none, announced: Int64? = nil) -> Exchange {
        let exchange = Exchange(
            owner: self, loop: loop, framing: framing, announced: announced,
            limits: core.bodyLimits)
        self.exchange = exchange
        return exchange
    }

    /// Runs `body` on the loop. Tasks prefer the loop, but a handler may have left it.
    nonisolated func onLoop(_ body: @escaping @Sendable () -> Void) {
        if loop.isCurrent { return body() }
        loop.execute(body)
    }

    func answerLater(_ response: Response, to request: Request, _ exchange: Exchange) {
        guard exchange.isOpen else { return request.answerEnded(.connectionLost) }
        exchange.task = nil
        awaitEnd(request)
        unsafe answer(response, to: request, into: &loop.sendBuffer)
        resume()
    }
}

extension Request {
    /// Ends the connection, unless it has another request by now. The reader of the content gets an
    /// error.
    package func abandon() {
        storage.connection.loop.execute { openConnection?.abort(.connectionLost) }
    }

    /// The connection; `nil` if it is closed or has another request by now. Call on the loop.
    var openConnection: Connection? {
        let info = storage.connection
        let client = info.loop.client(info.token.load(ordering: .relaxed))
        guard let connection = client as? Connection, connection.info === info,
            info.requestCount == storage.number
        else { return nil }
        return connection
    }
}
