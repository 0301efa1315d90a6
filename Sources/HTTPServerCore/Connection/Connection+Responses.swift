internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// Serialises responses and sends them.
extension Connection {
    /// Begins a response. The previous response counts as sent if it is written but not sent.
    func beginResponse(isHead: Bool = false) {
        if unsafe response?.observation != nil { endObserving() }
        unsafe response = ResponseInProgress(isHead: isHead)
    }

    /// Answers input that could not be read as a request.
    func answerUnread(_ error: HTTPError, into out: inout ByteBuffer) {
        beginResponse()
        beginObserving(nil)
        answer(error.response, to: nil, into: &out)
    }

    func answer(_ response: Response, to request: Request?, into out: inout ByteBuffer) {
        guard response.problem == nil else {
            let renderer = core.configuration.errorRenderer
            let rendered = loop.call { renderer.rendered(response, for: request) }
            return write(rendered, to: request, into: &out)
        }
        write(response, to: request, into: &out)
    }

    private func write(_ response: Response, to request: Request?, into out: inout ByteBuffer) {
        if case .upgrade(let start) = response.body.content {
            if upgrade(response, start, &out) { return }
            let isWanted = response.status == .switchingProtocols
            if isWanted, unsafe !state.takesUpgrade, unsafe !state.isHTTP10 {
                // The client is still sending content, or has ended its stream.
                logRefusal("refused an upgrade", response.status)
                let error = HTTPError(.badRequest, "an upgrade needs a request without content")
                return answer(error.response, to: request, into: &out)
            }
        }
        var framing = response.body.framing
        if framing == .chunked, unsafe state.isHTTP10 { framing = .untilClose }
        let isHead = unsafe self.response?.isHead == true
        let endsWithClose = framing == .untilClose && !isHead
        let option = unsafe state.beginsResponse(
            contentLeft: exchange?.content.left, endsWithClose: endsWithClose)
        // A client would take the next response for the final response (RFC 9110 section 15.2).
        guard response.status.class != .informational else {
            logError("the handler returned an interim status", request)
            return answerInvalid(option, into: &out)
        }
        unsafe self.response?.isChunked = framing == .chunked
        unsafe self.response?.endsWithClose = endsWithClose
        do throws(HTTPMessageError) {
            let usesBodyType = response.fields.isEmpty || !response.fields.contains(.contentType)
            try unsafe self.response?.serializer.head(
                response.status, verbatim: loop.commonFields,
                mediaType: usesBodyType ? response.body.mediaType : "",
                fields: response.fields, framing: framing, isHead: isHead, connection: option,
                into: &out)
            unsafe self.response?.observation?.begins(response, framing)
            guard !isHead, !response.status.forbidsContent else { return endResponse() }
            try send(response.body.content, to: request, &out)
        } catch {
            logError("the handler returned an invalid response", request, error)
            answerInvalid(option, into: &out)
        }
    }

    /// Answers 500 in place of an invalid response, of which nothing was written.
    private func answerInvalid(
        _ option: ResponseSerializer.ConnectionOption, into out: inout ByteBuffer
    ) {
        unsafe response?.observation?.status = .internalServerError
        let isHead = unsafe response?.isHead == true
        do throws(HTTPMessageError) {
            try unsafe response?.serializer.head(
                .internalServerError, verbatim: loop.commonFields, mediaType: "",
                fields: HTTPFields(), framing: .none, isHead: isHead, connection: option,
                into: &out)
            endResponse()
        } catch {
            abort(.responseFailed)
        }
    }

    func send(
        _ content: ResponseBody.Content, to request: Request?, _ out: inout ByteBuffer
    ) throws(HTTPMessageError) {
        switch content {
        // An upgrade without the status 101 is a response without content.
        case .empty, .upgrade: break
        case .text(let text): out.append(text)
        case .bytes(let bytes): sendBytes(bytes, &out)
        case .pieces(let pieces):
            for piece in pieces { guard sendPiece(piece, &out) else { return } }
        case .file(let file, let offset, let count):
            guard sendPiece(.file(file, offset: offset, count: count), &out) else { return }
        case .stream(_, let producer): return produce(producer, for: request)
        }
        unsafe response?.observation?.wroteAll()
        endResponse()
    }

    func sendBytes(_ bytes: [UInt8], _ out: inout ByteBuffer) {
        guard bytes.count > 32 << 10 else { return out.append(bytes) }
        queue(&out)
        unsafe output.append(bytes)
    }

    /// - Returns: `false` if a file is shorter than announced; the connection is aborted then, and
    ///   unsent bytes are dropped.
    func sendPiece(_ piece: ResponseBody.Piece, _ out: inout ByteBuffer) -> Bool {
        switch piece {
        case .bytes(let bytes): sendBytes(bytes, &out)
        case .file(let file, let offset, let count) where count <= Self.copiedFileLimit:
            guard copy(file, offset, Int(count), &out) else {
                fileFailed()
                return false
            }
        case .file(let file, let offset, let count):
            queue(&out)
            unsafe output.append(file, offset: offset, count: count)
        }
        return true
    }

    /// - Returns: `false` when the file is shorter than announced.
    func copy(
        _ file: OpenFile, _ offset: Int64, _ count: Int, _ out: inout ByteBuffer
    ) -> Bool {
        var filled = 0
        unsafe out.withRoom(count) { room in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<count])
            filled = (try? unsafe Syscalls.fill(room, from: file.descriptor, at: offset)) ?? 0
            return filled
        }
        return filled == count
    }

    func produce(_ producer: @escaping ResponseBody.Producer, for request: Request?) {
        let exchange = exchange ?? newExchange()
        exchange.task = Task(executorPreference: loop) {
            do {
                try await producer(ResponseWriter(exchange: exchange))
                self.onLoop { self.endStream(exchange, nil, request) }
            } catch {
                self.onLoop { self.endStream(exchange, error, request) }
            }
        }
    }

    func send(_ piece: ResponseBody.Piece, _ continuation: Exchange.Writer?) {
        do throws(HTTPMessageError) {
            switch piece {
            case .bytes(let bytes):
                unsafe try response?.serializer.content(bytes.span, into: &loop.sendBuffer)
            case .file(let file, let offset, let count):
                unsafe try response?.serializer.beginPiece(count, into: &loop.sendBuffer)
                unsafe queue(&loop.sendBuffer)
                unsafe output.append(file, offset: offset, count: count)
                unsafe response?.serializer.endPiece(into: &loop.sendBuffer)
            }
        } catch {
            continuation?.resume(throwing: ResponseWriterError.wrongLength)
            return
        }
        unsafe response?.observation?.contentBytes += piece.count
        unsafe response?.turnBytes += Int(piece.count)
        wrote(continuation)
    }

    func setTrailers(_ trailers: HTTPFields) { unsafe response?.trailers = trailers }

    /// Sends the written bytes, and suspends the writer while too many of them are unsent.
    private func wrote(_ continuation: Exchange.Writer?) {
        flush()
        guard unsafe !state.isClosed else {
            continuation?.resume(throwing: ResponseWriterError.connectionLost)
            return
        }
        if let report = core.observers.hooks.contentSent { reportSent(report) }
        guard let continuation else { return }
        if unsafe output.buffered > Self.highWater || output.waiting > Self.fileHighWater {
            if let exchange { exchange.suspendWriter(continuation) }
        } else if unsafe response.map({ $0.turnBytes <= Self.highWater }) ?? true {
            continuation.resume()
        } else {
            // A client that reads as fast as we write must not delay the other connections.
            unsafe response?.turnBytes = 0
            loop.execute { continuation.resume() }
        }
    }

    func endStream(_ exchange: Exchange, _ error: (any Error)?, _ request: Request?) {
        guard exchange.isOpen else { return }
        exchange.task = nil
        if let error {
            logError("a response stream failed", request, error)
            return abort(.responseFailed)
        }
        do throws(HTTPMessageError) {
            let trailers = unsafe response?.isChunked == true ? response?.trailers : nil
            unsafe try response?.serializer.end(
                trailers: trailers ?? HTTPFields(), into: &loop.sendBuffer)
        } catch {
            logError("invalid response stream", request, error)
            return abort(.responseFailed)
        }
        endResponse()
        resume()
    }

    func endResponse() {
        // The response is recorded once it is sent or cut short.
        unsafe response?.observation?.receivedBytes = exchange?.content.received ?? 0
        perform(unsafe state.endedResponse(buffers))
    }
}
