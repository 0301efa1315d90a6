internal import HTTPParser

/// One transaction in libcurl: turns the bytes of the callbacks into heads, content and trailers
/// for the runner.
final class CurlTransfer: TransferReceiver {
    /// Times on the loop's clock; 0 for events that have not happened.
    struct Times {
        let start: Int64
        /// When bytes were last sent or received.
        var lastActivity: Int64
        /// When the last byte of the request's content was passed to libcurl.
        var uploadEnd: Int64 = 0
        /// When the first line of the response arrived.
        var responseStart: Int64 = 0
    }

    /// The directions in which libcurl is paused.
    struct Paused: Equatable {
        var receiving = false
        var sending = false
    }

    /// The reference stays valid: the runner owns the transfer, and removes it from libcurl before
    /// it releases it.
    private unowned(unsafe) let owner: TransactionRunner
    var runner: TransactionRunner { unsafe owner }
    let handle: EasyHandle
    let upload: UploadSource?
    let settings: TransferSettings

    /// The error with which a callback ended the transfer.
    private(set) var failure: ClientError?
    /// The same error, if the runner has to end the transfer after the callback.
    private(set) var abortion: ClientError?
    @exclusivity(unchecked)
    private var heldTimes: Times
    private(set) var times: Times {
        get { unsafe heldTimes }
        _modify { yield unsafe &heldTimes }
    }
    @exclusivity(unchecked)
    private var head = ResponseHeadReader()
    private var contentCount: Int64 = 0
    /// How often libcurl began to send the request.
    private var startCount = 0
    /// How many connections libcurl had made when it last began to send the request.
    private var connectionsAtStart = 0
    /// Nil without a tunnel.
    @exclusivity(unchecked)
    private var tunnel: TunnelHead?
    private var paused = Paused()

    init(
        _ runner: TransactionRunner, _ handle: EasyHandle, _ settings: TransferSettings,
        upload: UploadSource?, now: Int64
    ) {
        unsafe owner = runner
        self.handle = handle
        self.settings = settings
        self.upload = upload
        unsafe heldTimes = Times(start: now, lastActivity: now)
        unsafe tunnel = settings.tunnels ? TunnelHead() : nil
    }

    var isHeadDone: Bool { unsafe head.isDone }
    var isInsideHead: Bool { unsafe head.isInside }
    var contentLength: Int64? { unsafe head.contentLength }
    var isCoded: Bool { unsafe head.isCoded }
    /// The fields after the content.
    var trailers: HTTPFields { unsafe head.trailers }
    /// Whether the transfer goes through a proxy's tunnel.
    var tunnels: Bool { unsafe tunnel != nil }
    var tunnelRefusal: ClientResponse? { unsafe tunnel?.refusal }
    override var trace: (@Sendable (ClientTrace) -> Void)? { runner.loop.configuration.trace }
    /// Whether the lines belong to the proxy's response to CONNECT. If a reused connection turns
    /// out to be closed, libcurl repeats the request over another one, and requests another tunnel
    /// first.
    private var isInTunnelRequest: Bool {
        guard unsafe tunnel != nil else { return false }
        return startCount == 0 || handle.connectionCount > connectionsAtStart
    }
    /// Whether the server may have received part of a request that must not be repeated (RFC 9110
    /// section 9.2.2).
    private var mustNotRepeat: Bool {
        startCount > 0 && !settings.method.isIdempotent && handle.requestHeadBytes > 0
    }
    private var headLimit: Int { runner.loop.configuration.headLimit }

    /// Restarts the idle limit.
    func touch() { times.lastActivity = runner.loop.now }

    /// Called before the request is sent. libcurl repeats a request whose connection turned out to
    /// be closed, or whose stream was refused. Only an idempotent request, or one of which nothing
    /// was sent, may be repeated (RFC 9110 section 9.2.2).
    override func mayStart() -> Bool {
        guard !mustNotRepeat else { return refuseRepetition() }
        if isInTunnelRequest {
            runner.loop.routing.noteTunnel(settings)
            // Another tunnel may follow.
            unsafe tunnel = TunnelHead()
        }
        startCount += 1
        connectionsAtStart = handle.connectionCount
        if !settings.method.isIdempotent, settings.mayUseStreams { handle.watchStream() }
        return true
    }

    private func refuseRepetition() -> Bool {
        fail(notRepeated("closed without an answer; the request is not repeated"))
    }

    /// The error of a request that libcurl must not repeat. If the server reported that it never
    /// processed the request, the caller may retry.
    private func notRepeated(_ text: String) -> ClientError {
        handle.isUnprocessed
            ? ClientError(.connectionLost, "the server refused to process the request")
            : ClientError(.connectionLost, text)
    }

    private func fail(_ error: ClientError) -> Bool {
        failure = failure ?? error
        return false
    }

    /// Makes the running callback fail; the runner ends the transfer after it.
    func abort(_ error: ClientError) {
        failure = failure ?? error
        abortion = failure
    }

    // MARK: the head

    /// A line of a proxy's response to CONNECT.
    private func received(tunnelLine line: UnsafeRawBufferPointer) -> Bool {
        // If the proxy refused the tunnel, the request would be sent again with credentials.
        guard !mustNotRepeat else { return refuseRepetition() }
        do throws(ClientError) {
            try unsafe tunnel?.add(line, limit: headLimit, for: runner.machine.sent)
            return true
        } catch {
            return fail(error)
        }
    }

    /// A line of a head, with its end. False ends the transfer.
    override func received(line: UnsafeRawBufferPointer) -> Bool {
        touch()
        if isInTunnelRequest { return unsafe received(tunnelLine: line) }
        let meaning: ResponseHeadReader.Line
        do throws(ClientError) {
            meaning = try unsafe head.add(line, limit: headLimit)
        } catch {
            return fail(error)
        }
        switch meaning {
        case .field, .trailer: return true
        case .end: return headEnded()
        case .status:
            if times.responseStart == 0 {
                times.responseStart = runner.task.wantsMetrics ? LoopClock.now() : runner.loop.now
            }
            return true
        }
    }

    private func headEnded() -> Bool {
        let ended: ResponseHeadReader.Head
        do throws(ClientError) {
            ended = try unsafe head.finish()
        } catch {
            return fail(error)
        }
        if ended.isInterim {
            let response = ClientResponse.Interim(status: ended.status, head: ended.fields)
            if unsafe head.keep(response) { runner.task.interimReceived(response) }
            return true
        }
        let isPlain = ended.version == .http11 || ended.version == .http10
        runner.loop.multi?.noteAnswer(to: handle, isPlain: isPlain)
        let response = ClientResponse(
            url: runner.machine.sent.url, status: ended.status, version: ended.version,
            head: ended.fields, interim: unsafe head.interim,
            expectedLength: expectedLength(of: ended.status))
        runner.headReceived(response, self)
        return failure == nil
    }

    /// The length of the content as it is delivered; `nil` if it is not known, as for content
    /// that is decoded.
    private func expectedLength(of status: HTTPStatus) -> Int64? {
        let request = runner.machine.sent
        guard request.method != .head, !status.forbidsContent else { return 0 }
        let isDecoded =
            isCoded && runner.loop.configuration.decodes(request, isFile: runner.sink.isFile)
        return isDecoded ? nil : contentLength
    }

    // MARK: content

    override func received(content: UnsafeRawBufferPointer) -> ContentAnswer {
        touch()
        if !isHeadDone, runner.loop.configuration.allowsHTTP09 { startWithoutHead() }
        if failure != nil { return .failed }
        guard !runner.machine.pausesReceiving else {
            paused.receiving = true
            return .paused
        }
        contentCount += Int64(content.count)
        unsafe runner.contentReceived(content)
        return failure == nil ? .taken : .failed
    }

    private func startWithoutHead() {
        unsafe head.finishWithoutHead()
        runner.headReceived(
            ClientResponse(url: runner.machine.sent.url, status: .ok, version: .http10), self)
    }

    override func read(into room: UnsafeMutableRawBufferPointer) -> UploadSource.Answer {
        touch()
        guard let upload else { return .bytes(0) }
        guard !runner.machine.pausesSending else {
            paused.sending = true
            return .paused
        }
        let answer = unsafe upload.read(into: room)
        switch answer {
        case .bytes(let count):
            runner.contentSent(count)
            if count == 0 || upload.isAtEnd { times.uploadEnd = runner.loop.now }
        case .paused: paused.sending = true
        case .failed: failure = failure ?? upload.failure
        }
        return answer
    }

    /// Whether content is being sent while part of the response is still to come.
    override var needsAnswer: Bool {
        guard let upload, upload.position > 0, !paused.receiving else { return false }
        return !isHeadDone || contentCount < contentLength ?? 0
    }

    /// Called when the server has closed its side while content is sent, so that no complete
    /// response can arrive. libcurl would continue to send, and wait forever for a server that
    /// reads no more and keeps its socket open.
    override func connectionEnded() {
        runner.abort(
            isHeadDone
                ? ClientError(.truncated, "the connection ended within the response")
                : ClientError(.connectionLost, "the server ended the connection without an answer"))
    }

    /// libcurl sends the content again when a reused connection turns out to be closed. A request that
    /// must not happen twice is not repeated (RFC 9110 section 9.2.2).
    override func seek(to offset: Int64) -> Bool {
        guard let upload else { return false }
        if upload.position > offset, !settings.method.isIdempotent {
            failure = notRepeated("part of the content was sent; the request is not repeated")
            return false
        }
        let sent = upload.position
        guard upload.seek(to: offset) else { return false }
        runner.task.counters.send(-Int(clamping: sent - offset))
        return true
    }

    override func trusts(_ certificates: [[UInt8]], isTrusted: Bool) -> Bool {
        runner.loop.trusts(certificates, isTrusted: isTrusted, of: settings)
    }

    override func ended(_ code: TransferResult.Code) { runner.transferEnded(self, code) }

    // MARK: pausing, outside of callbacks

    /// Pauses and resumes libcurl as the machine wants it.
    /// - Parameter atOnce: whether to pause now, not only when libcurl next has or needs bytes.
    func applyPauses(atOnce: Bool) {
        let wanted = Paused(
            receiving: runner.machine.pausesReceiving && (paused.receiving || atOnce),
            sending: runner.machine.pausesSending && (paused.sending || atOnce))
        guard wanted != paused else { return }
        if paused.receiving, !wanted.receiving {
            touch()
            runner.loop.look(at: times.lastActivity + runner.machine.limits.idle)
        }
        paused = wanted
        handle.pause(receiving: wanted.receiving, sending: wanted.sending)
    }

    /// Called when content has become available after a read found none, and when a stream
    /// continues after its announced end.
    func resumeSending() {
        if let error = upload?.excess() {
            runner.abort(error)
            return
        }
        guard paused.sending, !runner.machine.pausesSending else { return }
        touch()
        paused.sending = false
        handle.pause(receiving: paused.receiving, sending: false)
    }

    /// Whether nothing can move because this side has paused it.
    var isPaused: Bool {
        paused.receiving || (paused.sending && !(upload?.isAtEnd ?? true))
    }
}
