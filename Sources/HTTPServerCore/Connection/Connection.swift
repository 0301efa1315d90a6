internal import HTTPCodecs
internal import HTTPParser
internal import Logging

/// One connection: the bytes between a transport, `ConnectionState` and a handler.
///
/// It is confined to its loop. Requests are parsed where they were read; what is left of a read
/// is kept only when a request is unfinished, so an idle connection is little more than this
/// object.
package final class Connection: LoopClient, @unchecked Sendable {
    /// A head that came in pieces: the parser remembers how far it got.
    private final class PartialHead {
        var parser: HeadParser
        init(_ parser: consuming HeadParser) { self.parser = parser }
    }

    private enum DeadlineKind { case none, head, idle, content, write, linger }
    private enum Closing { case no, afterOutput, lingerAfterOutput, lingering, closed }

    let loop: EventLoop
    private let core: ServerCore
    private let ends: ConnectionEnds
    private var transport: (any Transport)?
    @exclusivity(unchecked)
    private var state = ConnectionState()
    private var closing = Closing.no
    private var interest: PollInterest = .read
    private var deadlineKind = DeadlineKind.none
    private var isHead = false
    private var tail = ByteBuffer()
    private var partial: PartialHead?
    private var exchange: Exchange?
    private var output = OutputQueue() {
        didSet { hasOutput = !output.isEmpty }
    }
    /// Whether `output` waits: asked for each request, so it is kept apart.
    private var hasOutput = false
    @exclusivity(unchecked)
    private var serializer = ResponseSerializer()
    private var lingered = 0
    /// The peer has ended its stream; what it asked for before may still be to be answered.
    private var peerHasEnded = false
    private var logging: ResponseLog?
    var trailers = HTTPFields()
    /// Whether the response can have trailers.
    private var isChunked = false

    /// Bytes that wait for a slow client before `ResponseWriter.write` suspends.
    private static let highWater = 64 << 10
    /// Files up to this size are copied behind the head: one call instead of two.
    private static let copiedFileLimit: Int64 = 16 << 10
    private static let lingerBytes = 1 << 20
    private static let lingerTime: UInt64 = 2_000_000_000

    package init(loop: EventLoop, core: ServerCore, peer: PeerAddress, local: SocketAddress) {
        self.loop = loop
        self.core = core
        ends = ConnectionEnds(peer: peer, local: local)
        super.init(in: loop)
    }

    /// Takes over a transport that is being watched for input.
    package func open(_ transport: any Transport) {
        self.transport = transport
        setDeadline(.head, core.headTime)
    }

    private func setDeadline(_ kind: DeadlineKind, _ time: UInt64) {
        deadlineKind = kind
        loop.setDeadline(kind == .none ? .max : loop.now &+ time, for: self)
    }

    // MARK: Events

    package override func handle(_ event: PollEvent) {
        if event.isHungUp { return abort() }
        if event.isWritable { sendPending() }
        if event.isReadable, closing != .closed { receive() }
    }

    private func watch(_ interest: PollInterest) {
        guard interest != self.interest, closing != .closed else { return }
        self.interest = interest
        transport?.watch(interest)
    }

    // MARK: Input

    private func receive() {
        guard let transport else { return }
        if isReadingLongContent { return receiveContent(transport) }
        guard wantsInput else { return watch(interest.subtracting(.read)) }
        let room = unsafe loop.receiveRoom
        switch unsafe transport.receive(into: room) {
        case .done(0): peerEnded()
        case .done(let count):
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: room[..<count])
            unsafe received(bytes)
        case .wouldBlock: break
        case .failed: abort()
        }
    }

    /// Input is left in the system's buffer while a handler, or the peer's reading, is behind.
    private var wantsInput: Bool {
        if peerHasEnded { return false }
        if unsafe state.input == .content { return exchange?.isFull != true }
        return unsafe !(state.isBusy || holdsRequests) || tail.count < EventLoop.receiveSize
    }

    /// Responses wait for the peer to read: answering further requests would only pile up memory
    /// and open files.
    private var holdsRequests: Bool { hasOutput && closing == .no }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        if tail.isEmpty {
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
    private func answerHeldRequests() {
        guard !tail.isEmpty, partial == nil, closing == .no else { return }
        guard unsafe state.input == .head, unsafe !state.isBusy, !holdsRequests else { return }
        loop.execute { [self] in goOn() }
    }

    private func processTail() {
        guard !tail.isEmpty else { return }
        let used = unsafe process(tail.unsafeBytes, into: &loop.sendBuffer)
        guard closing != .closed else { return }
        tail.consume(used)
        if tail.isEmpty { tail = ByteBuffer() }
    }

    /// Reads as many messages, or as much of them, as there is.
    /// - Returns: how many of the bytes are done with.
    private func process(
        _ bytes: UnsafeRawBufferPointer, into out: inout ByteBuffer
    ) -> Int {
        var position = 0
        while position < bytes.count, closing != .closed {
            switch unsafe state.input {
            case .discarded:
                lingered += bytes.count - position
                if lingered > Self.lingerBytes { abort() }
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

    private func takeHead(
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
                    &out)
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
                &out)
        } catch {
            refuse(error, into: &out)
        }
        return true
    }

    /// A head that cannot be read: one answer, and nothing after it can be trusted.
    private func refuse(_ error: HTTPParseError, into out: inout ByteBuffer) {
        core.logger.debug("refused a request", metadata: ["error": "\(error)"])
        partial = nil
        isHead = false
        unsafe state.refusedInput()
        startLog(nil)
        answer(HTTPError(error.suggestedStatus, error.description).response, into: &out)
    }

    private func takeContent(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int, into out: inout ByteBuffer
    ) -> Bool {
        guard let exchange, !exchange.isFull else { return false }
        unsafe state.receivedContent()
        do throws(HTTPParseError) {
            switch try unsafe exchange.body.next(bytes, from: &position) {
            case .more: return false
            case .content(let range):
                unsafe deliver(Array(bytes[range]), to: exchange)
                if exchange.body.isComplete { contentEnded(exchange) }
            case .end: contentEnded(exchange)
            }
        } catch {
            contentFailed(exchange, error)
        }
        return true
    }

    private func deliver(_ piece: [UInt8], to exchange: Exchange) {
        guard exchange.connection != nil else {
            exchange.received += Int64(piece.count)
            if exchange.received > exchange.rateMark + ConnectionState.discardLimit { abort() }
            return
        }
        exchange.deliver(piece)
    }

    private func contentEnded(_ exchange: Exchange) {
        exchange.completeInput(trailers: exchange.body.trailers)
        if deadlineKind == .content { setDeadline(.none, 0) }
        if let next = unsafe state.receivedEnd() { proceed(next) }
    }

    private func contentFailed(_ exchange: Exchange, _ error: HTTPParseError) {
        core.logger.debug("refused content", metadata: ["error": "\(error)"])
        unsafe state.inputFailed()
        // Nobody waits for it any more, but the answer that went before has to arrive.
        if exchange.connection == nil { return proceed(.closeLingering) }
        exchange.failInput(RequestBodyError.malformed(error))
    }

    /// Long content of known length goes from the system straight into the pieces that the
    /// handler gets.
    private var isReadingLongContent: Bool {
        guard unsafe state.input == .content, tail.isEmpty, let exchange, !exchange.isFull else {
            return false
        }
        return (exchange.contentLeft ?? 0) >= 16 << 10
    }

    private func receiveContent(_ transport: any Transport) {
        guard let exchange else { return }
        let room = Int(min(exchange.contentLeft ?? 0, Int64(EventLoop.receiveSize)))
        var result = IOResult.wouldBlock
        var piece = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            result = unsafe transport.receive(into: UnsafeMutableRawBufferPointer(buffer))
            if case .done(let received) = result { count = received }
        }
        switch result {
        case .done(0): return peerEnded()
        case .failed: return abort()
        case .wouldBlock: return
        case .done(let count):
            // A small piece must not keep a large block alive. One piece for each event: with
            // more of them alive the allocator would give memory back and fault it in again.
            if count < room / 2 { piece = Array(piece[...]) }
        }
        unsafe state.receivedContent()
        advance(exchange, by: piece)
        flush()
    }

    private func advance(_ exchange: Exchange, by piece: [UInt8]) {
        do throws(HTTPParseError) {
            var position = 0
            _ = try exchange.body.next(piece.span, from: &position)
            deliver(piece, to: exchange)
            guard exchange.body.isComplete else { return }
            contentEnded(exchange)
        } catch {
            contentFailed(exchange, error)
        }
    }

    /// The peer may still read: whatever it asked for before is answered first.
    private func peerEnded() {
        guard closing != .lingering else { return abort() }
        peerHasEnded = true
        watch(interest.subtracting(.read))
        if !output.isEmpty, unsafe state.input != .content { return }
        // Whole requests may wait there for their turn; `goOn` closes behind them.
        if unsafe state.input == .head, !tail.isEmpty, partial == nil {
            return loop.execute { [self] in goOn() }
        }
        switch unsafe state.peerEnded(insideHead: !tail.isEmpty && state.input == .head) {
        case .finishResponse where closing == .no: break
        case .close, .truncated, .finishResponse: abort()
        }
    }

    /// Closes once everything that came before the end of the peer's stream is answered.
    private func closeAfterPeer() {
        guard peerHasEnded, closing == .no, output.isEmpty, unsafe !state.isBusy else { return }
        if tail.isEmpty || partial != nil { abort() }
    }

    // MARK: Requests

    private func begin(_ head: consuming RequestHead, _ out: inout ByteBuffer) {
        let framing = head.framing
        let hasContent = framing != .none && framing != .tunnel
        isHead = head.knownMethod == .head
        let refusal = refusal(head)
        let expectsContinue = head.expectsContinue
        unsafe state.receivedHead(
            isPersistent: head.isPersistent && framing != .tunnel, version: head.version,
            hasContent: hasContent, expectsContinue: expectsContinue)
        if hasContent {
            exchange = Exchange(
                connection: self, framing: framing, announced: head.contentLength,
                limits: core.bodyLimits)
            exchange?.decoding = core.decoding(head)
        }
        deadlineKind = .none
        loop.setDeadline(.max, for: self)
        let request = Request(
            Request.Storage(head: head, exchange: exchange, ends: ends))
        startLog(request)
        if let refusal {
            if hasContent { unsafe state.refusedInput() }
            return answer(refusal.response, into: &out)
        }
        if hasContent, !expectsContinue { judgeContent() }
        if let immediate = core.immediate {
            do {
                if let response = try immediate.respondNow(to: request) {
                    return answer(response, into: &out)
                }
            } catch {
                return answer(response(for: error), into: &out)
            }
        }
        start(request)
    }

    private func refusal(_ head: borrowing RequestHead) -> HTTPError? {
        if let length = head.contentLength, length > core.configuration.contentLimit {
            return HTTPError(
                .contentTooLarge, "at most \(core.configuration.contentLimit) bytes are taken")
        }
        // RFC 9110 section 10.1.1: an expectation we do not know.
        if head.framingFields.flags.contains(.expectOther), head.version >= .http11 {
            return HTTPError(.expectationFailed, "only 100-continue can be expected")
        }
        return nil
    }

    private func start(_ request: Request) {
        let exchange = exchange ?? newExchange()
        let handler = core.handler
        exchange.task = Task(executorPreference: loop) {
            let response: Response
            do {
                response = try await handler.respond(to: request)
            } catch {
                response = self.response(for: error)
            }
            self.onLoop { self.answerLater(response, exchange) }
        }
    }

    private func newExchange() -> Exchange {
        let exchange = Exchange(
            connection: self, framing: .none, announced: nil, limits: core.bodyLimits)
        self.exchange = exchange
        return exchange
    }

    /// Tasks prefer the loop, but a handler may have led them elsewhere.
    private nonisolated func onLoop(_ body: @escaping @Sendable () -> Void) {
        if loop.isCurrent { return body() }
        loop.execute(body)
    }

    private func answerLater(_ response: Response, _ exchange: Exchange) {
        guard exchange.connection === self else { return }
        exchange.task = nil
        answer(response, into: &loop.sendBuffer)
        goOn()
    }

    private func response(for error: any Error) -> Response {
        switch error {
        case let error as HTTPError: return error.response
        case let error as CodecError: return HTTPError(error).response
        case RequestBodyError.malformed(let error):
            return HTTPError(error.suggestedStatus, error.description).response
        case is CancellationError, RequestBodyError.connectionLost:
            return HTTPError(.requestTimeout).response
        default:
            core.logger.error("a handler failed", metadata: ["error": "\(error)"])
            return HTTPError(.internalServerError).response
        }
    }

    // MARK: Content on demand

    /// The handler waits for content.
    func contentIsWanted() {
        if unsafe state.wantsContent() {
            do throws(HTTPMessageError) {
                unsafe try serializer.interim(.continue, into: &loop.sendBuffer)
            } catch {
                return abort()
            }
        }
        if deadlineKind == .none { judgeContent() }
        goOn()
    }

    /// The handler took a piece: there is room for more.
    func contentWasTaken() {
        guard exchange?.isFull == false, !interest.contains(.read) || !tail.isEmpty else { return }
        goOn()
    }

    private func judgeContent() {
        exchange?.rateMark = exchange?.received ?? 0
        setDeadline(.content, core.graceTime)
    }

    // MARK: Responses

    private func answer(_ response: Response, into out: inout ByteBuffer) {
        var framing = response.body.framing
        if framing == .chunked, unsafe state.isAnsweringHTTP10 { framing = .untilClose }
        let option = unsafe state.beginsResponse(
            contentLeft: exchange?.contentLeft, endsWithClose: framing == .untilClose && !isHead)
        // A client would take the next response for the final one (RFC 9110 section 15.2).
        guard response.status.class != .informational else {
            core.logger.error("an interim status is no response")
            return answerUnsound(option, into: &out)
        }
        isChunked = framing == .chunked
        do throws(HTTPMessageError) {
            let usesBodyType = response.fields.isEmpty || !response.fields.contains(.contentType)
            try unsafe serializer.head(
                response.status, verbatim: loop.commonFields,
                mediaType: usesBodyType ? response.body.mediaType : "",
                fields: response.fields, framing: framing, isHead: isHead, connection: option,
                into: &out)
            logging?.status = response.status
            try send(response.body.content, omitted: isHead || response.status.forbidsContent, &out)
        } catch {
            core.logger.error("a response was unsound", metadata: ["error": "\(error)"])
            answerUnsound(option, into: &out)
        }
    }

    /// A handler gave fields that must not go on the wire; nothing of its response was written.
    private func answerUnsound(
        _ option: ResponseSerializer.ConnectionOption, into out: inout ByteBuffer
    ) {
        logging?.status = .internalServerError
        do throws(HTTPMessageError) {
            try unsafe serializer.head(
                .internalServerError, verbatim: loop.commonFields, mediaType: "",
                fields: HTTPFields(), framing: .none, isHead: isHead, connection: option,
                into: &out)
            endResponse()
        } catch {
            abort()
        }
    }

    private func send(
        _ content: ResponseBody.Content, omitted: Bool, _ out: inout ByteBuffer
    ) throws(HTTPMessageError) {
        guard !omitted else { return endResponse() }
        switch content {
        case .empty: break
        case .text(let text):
            out.append(text)
            logging?.contentBytes = Int64(text.utf8.count)
        case .bytes(let bytes):
            logging?.contentBytes = Int64(bytes.count)
            sendBytes(bytes, &out)
        case .pieces(let pieces):
            for piece in pieces {
                logging?.contentBytes += piece.count
                guard sendPiece(piece, &out) else { return abort() }
            }
        case .file(let file, let offset, let count):
            logging?.contentBytes = count
            guard sendPiece(.file(file, offset: offset, count: count), &out) else {
                return abort()
            }
        case .stream(_, let producer): return produce(producer)
        }
        endResponse()
    }

    private func sendBytes(_ bytes: [UInt8], _ out: inout ByteBuffer) {
        guard bytes.count > 32 << 10 else { return out.append(bytes) }
        queue(&out)
        output.append(bytes)
    }

    private func sendPiece(_ piece: ResponseBody.Piece, _ out: inout ByteBuffer) -> Bool {
        switch piece {
        case .bytes(let bytes): sendBytes(bytes, &out)
        case .file(let file, let offset, let count):
            if count <= Self.copiedFileLimit { return copy(file, offset, Int(count), &out) }
            queue(&out)
            output.append(file, offset: offset, count: count)
        }
        return true
    }

    /// - Returns: `false` when the file is shorter than announced.
    private func copy(
        _ file: OpenFile, _ offset: Int64, _ count: Int, _ out: inout ByteBuffer
    ) -> Bool {
        var got = 0
        while got < count {
            var step = 0
            unsafe out.withRoom(count - got) { room in
                let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<(count - got)])
                let result = unsafe Syscalls.read(
                    file.descriptor, part, at: offset + Int64(got))
                if case .done(let read) = result { step = read }
                return step
            }
            guard step > 0 else { return false }
            got += step
        }
        return true
    }

    /// Moves what was written so far into the queue, so that something can go behind it.
    private func queue(_ out: inout ByteBuffer) {
        unsafe output.append(out.unsafeBytes)
        out.removeAll()
    }

    private func produce(_ producer: @escaping ResponseBody.Producer) {
        let exchange = exchange ?? newExchange()
        trailers = HTTPFields()
        exchange.task = Task(executorPreference: loop) {
            do {
                try await producer(ResponseWriter(exchange: exchange))
                self.onLoop { self.endStream(exchange, nil) }
            } catch {
                self.onLoop { self.endStream(exchange, error) }
            }
        }
    }

    /// Takes a piece of a streamed response.
    /// - Parameter continuation: who waits until more is wanted, if anybody does.
    func write(_ bytes: [UInt8], _ continuation: CheckedContinuation<Void, any Error>?) {
        do throws(HTTPMessageError) {
            unsafe try serializer.content(bytes.span, into: &loop.sendBuffer)
        } catch {
            continuation?.resume(throwing: ResponseWriterError.wrongLength)
            return
        }
        logging?.contentBytes += Int64(bytes.count)
        flush()
        guard closing != .closed else {
            continuation?.resume(throwing: ResponseWriterError.connectionLost)
            return
        }
        guard let continuation else { return }
        if output.buffered > Self.highWater {
            exchange?.suspendWriter(continuation)
        } else {
            continuation.resume()
        }
    }

    private func endStream(_ exchange: Exchange, _ error: (any Error)?) {
        guard exchange.connection === self else { return }
        exchange.task = nil
        if let error {
            core.logger.error("a stream failed", metadata: ["error": "\(error)"])
            return abort()
        }
        do throws(HTTPMessageError) {
            let trailers = isChunked ? trailers : HTTPFields()
            unsafe try serializer.end(trailers: trailers, into: &loop.sendBuffer)
        } catch {
            core.logger.error("a stream was unsound", metadata: ["error": "\(error)"])
            return abort()
        }
        endResponse()
        goOn()
    }

    private func endResponse() {
        // What waits for a slow client is recorded once it went out, or was cut short.
        if !hasOutput { finishLog(isComplete: true) }
        unsafe proceed(state.endedResponse())
    }

    private func proceed(_ next: ConnectionState.Next) {
        switch next {
        case .nextRequest:
            exchange?.detach()
            exchange = nil
            setDeadline(.idle, core.idleTime)
        case .discardContent:
            exchange?.detach()
            judgeContent()
        case .close:
            exchange?.detach()
            closing = tail.isEmpty ? .afterOutput : .lingerAfterOutput
        case .closeLingering:
            exchange?.detach()
            closing = .lingerAfterOutput
        }
    }

    // MARK: Output

    /// Continues after something that was waited for: bytes that were kept back, output, input.
    private func goOn() {
        // What was written for a connection that is gone must not go out on the next one.
        guard closing != .closed else { return loop.sendBuffer.removeAll() }
        processTail()
        flush()
        guard closing != .closed else { return }
        if wantsInput { watch(interest.union(.read)) }
        answerHeldRequests()
        closeAfterPeer()
    }

    /// Sends what was written since the last event: one call for all of it.
    private func flush() {
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

    private func sendDirectly(_ transport: any Transport) {
        switch unsafe transport.send(loop.sendBuffer.unsafeBytes, more: false) {
        case .done(let count): loop.sendBuffer.consume(count)
        case .wouldBlock: break
        case .failed:
            loop.sendBuffer.removeAll()
            return abort()
        }
        if !loop.sendBuffer.isEmpty { queue(&loop.sendBuffer) }
        if loop.sendBuffer.isOversized { loop.sendBuffer = ByteBuffer(capacity: 32 << 10) }
    }

    private func sendPending() {
        guard let transport, closing != .closed, !output.isEmpty else { return }
        let (progress, count) = output.send(to: transport)
        if output.buffered <= Self.highWater / 2 { exchange?.resumeWriter() }
        switch progress {
        case .empty:
            watch(interest.subtracting(.write))
            if deadlineKind == .write { restoreDeadline() }
            outputEnded()
            if closing == .no, !tail.isEmpty || !interest.contains(.read) {
                loop.execute { [self] in goOn() }
            }
        case .blocked:
            if count > 0 || deadlineKind != .write { setDeadline(.write, core.writeTime) }
            watch(interest.union(.write))
        case .failed:
            if logging != nil { core.logger.debug("a response was cut short") }
            abort()
        }
    }

    private func restoreDeadline() {
        if unsafe state.input == .content {
            judgeContent()
        } else if unsafe state.isBusy {
            setDeadline(.none, 0)
        } else {
            setDeadline(.idle, core.idleTime)
        }
    }

    private func outputEnded() {
        if logging != nil, unsafe !state.isBusy { finishLog(isComplete: true) }
        switch closing {
        case .no, .closed, .lingering: break
        case .afterOutput: abort()
        // All that the peer had to say was read: closing cannot destroy the answer.
        case .lingerAfterOutput where peerHasEnded: abort()
        case .lingerAfterOutput:
            closing = .lingering
            transport?.shutdownWriting()
            setDeadline(.linger, Self.lingerTime)
            tail = ByteBuffer()
            watch(.read)
        }
    }

    // MARK: Deadlines and ends

    package override func deadlineReached() {
        switch deadlineKind {
        case .none: break
        case .idle, .write, .linger: abort()
        case .head: headIsLate()
        case .content: contentIsLate()
        }
    }

    private func headIsLate() {
        guard !tail.isEmpty else { return abort() }
        isHead = false
        unsafe state.refusedInput()
        startLog(nil)
        answer(
            HTTPError(.requestTimeout, "the head of the request was too slow").response,
            into: &loop.sendBuffer)
        flush()
    }

    /// Content is judged by its rate while somebody waits for it, not while the handler is behind.
    private func contentIsLate() {
        guard let exchange, unsafe state.input == .content else { return }
        let wanted = Int64(core.configuration.contentRate) * Int64(core.graceTime / 1_000_000_000)
        let isWaited = !exchange.hasUntakenContent
        if !isWaited || exchange.received - exchange.rateMark >= wanted { return judgeContent() }
        unsafe state.inputFailed()
        if unsafe exchange.connection == nil || state.hasBegunResponse { return abort() }
        exchange.failInput(HTTPError(.requestTimeout, "the content was too slow"))
    }

    /// The server wants to stop: idle connections close now, busy ones after their response.
    package func shutDown() {
        guard closing == .no else { return }
        if unsafe state.beginsShutdown(), output.isEmpty { abort() }
    }

    /// Closes at once. Whoever still works for the peer is cancelled.
    package func abort() {
        guard closing != .closed else { return }
        closing = .closed
        finishLog(isComplete: false)
        unsafe state.closed()
        transport?.close()
        transport = nil
        loop.remove(self)
        output.removeAll()
        partial = nil
        let exchange = self.exchange
        self.exchange = nil
        exchange?.detach(RequestBodyError.connectionLost)
        core.connectionClosed()
    }

    // MARK: Logging

    private func startLog(_ request: Request?) {
        guard core.logsAccess else { return }
        logging = ResponseLog(request: request, started: loop.now)
    }

    private func finishLog(isComplete: Bool) {
        guard let logging, let accessLog = core.configuration.accessLog else { return }
        self.logging = nil
        accessLog(logging.record(peer: ends.peer, ended: loop.now, isComplete: isComplete))
    }
}

/// What is collected for the access log while a request is answered.
private struct ResponseLog {
    let request: Request?
    let started: UInt64
    var status = HTTPStatus.badRequest
    var contentBytes: Int64 = 0

    init(request: Request?, started: UInt64) {
        self.request = request
        self.started = started
    }

    func record(peer: PeerAddress, ended: UInt64, isComplete: Bool) -> AccessRecord {
        AccessRecord(
            peer: peer.address, user: request?.identity?.name, method: request?.method.name ?? "",
            target: request?.target.text ?? "", version: request?.version ?? .http11,
            status: status, contentBytes: contentBytes,
            duration: .nanoseconds(Int64(ended &- started)), referer: request?.fields[.referer],
            userAgent: request?.fields[.userAgent],
            date: HTTPDate(secondsSinceEpoch: Syscalls.realtime().seconds), isComplete: isComplete)
    }
}
