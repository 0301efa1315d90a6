internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem
internal import WebSocketConnections
internal import WebSocketFrames

/// Connects a WebSocket by libcurl, and sends and receives its bytes. Confined to the session's
/// loop, except for the methods under the mark `any thread`.
///
/// libcurl handles name lookup, proxies, connect targets and TLS; then the runner uses the
/// connection. The easy handle owns the connection, and stays in the multi handle until the
/// connection ends.
final class WebSocketRunner: TransferReceiver, WebSocketMember, @unchecked Sendable {
    /// The arguments of a task.
    struct Plan: Sendable {
        let request: ClientRequest
        let protocols: [String]
        let compression: DeflateExtension.Offer?
        let options: WebSocketOptions
    }

    /// The stage of the connection.
    enum Stage {
        case idle
        /// Waiting for a token, or for the answer to a challenge.
        case asking
        /// Waiting for the endpoints of the session's policy.
        case resolving
        case connecting
        /// Sending the request of the handshake, or waiting for its response.
        case handshaking
        case open(WebSocketConnection)
        /// Sending the last bytes; with `leavesInput`, then waiting until the server ends the
        /// connection.
        case finishing(leavesInput: Bool)
        case over

        /// The phase for errors in this stage.
        var phase: ClientError.Phase {
            switch self {
            case .idle, .asking: .preparing
            case .resolving: .resolving
            case .connecting: .connecting
            case .handshaking: .waiting
            case .open, .finishing, .over: .receiving
            }
        }
    }

    let loop: ClientLoop
    let state: WebSocketState
    let plan: Plan
    let policy: TransactionPolicy
    var stage = Stage.idle
    /// The request with the fields that the session adds.
    private(set) var request: ClientRequest
    var context: TransactionContext
    let limits: TransactionLimits
    private(set) var settings: TransferSettings?
    /// The easy handle that owns the connection.
    var handle: EasyHandle?
    var socket: Int32 = -1
    @exclusivity(unchecked)
    var handshake: WebSocketHandshake
    @exclusivity(unchecked)
    var output = SocketOutput()
    var flow = Flow()
    var trial = Trial()

    /// The deadlines of the handshake on the loop's clock, and the endpoints that it tries.
    struct Trial {
        /// The deadline of the stage.
        var stageEnd = Int64.max
        /// The deadline of the whole handshake.
        var totalEnd = Int64.max
        /// The endpoints that the session's policy gave; none for the origin's own address.
        var targets: [ConnectTarget] = []
        /// The index of the endpoint that is being tried.
        var index = 0
        /// How often the session's policy was called again for other endpoints.
        var attempt = 0
    }

    /// The state of the socket.
    struct Flow {
        var isReading = false
        var watched = SocketEvents.none
        /// Whether sending has failed. Bytes that the server sent before are still read.
        var isMute = false
        /// Whether the server has ended its side, and `settle` has not handled that yet.
        var isBroken = false
        /// The deadline for sending more of the pending output, on the loop's clock.
        var outputEnd = Int64.max
    }

    /// How long the server may take to end a failed connection, in nanoseconds.
    private static let lingering: Int64 = 2_000_000_000
    /// How long the server may take to read the last bytes, in nanoseconds.
    private static let finishing: Int64 = 5_000_000_000

    init(_ loop: ClientLoop, _ policy: TransactionPolicy, _ state: WebSocketState, _ plan: Plan) {
        self.loop = loop
        self.policy = policy
        self.state = state
        self.plan = plan
        request = plan.request.tunnelled(loop.configuration)
        context = TransactionContext(request)
        limits = TransactionLimits(plan.request, loop.configuration)
        unsafe handshake = Self.handshake(plan, loop)
    }

    private static func handshake(_ plan: Plan, _ loop: ClientLoop) -> WebSocketHandshake {
        WebSocketHandshake(
            WebSocketOffer(protocols: plan.offered, deflate: plan.compression),
            limit: loop.configuration.headLimit)
    }

    // MARK: any thread

    func resume() {
        guard loop.post({ self.start() }) else {
            return state.fail(ClientError(.sessionInvalidated, "the session was invalidated"))
        }
    }

    func close(_ code: CloseCode, reason: String) {
        if state.start() { state.fail(ClientError(.cancelled)) }
        loop.post {
            guard case .open(let connection) = self.stage else { return self.cancelEarly() }
            connection.close(code, reason)
        }
    }

    func cancel() {
        if state.start() { state.fail(ClientError(.cancelled)) }
        loop.post {
            if case .finishing = self.stage { return self.end() }
            guard case .open(let connection) = self.stage else { return self.cancelEarly() }
            connection.close(.goingAway, "")
            self.finishAtOnce()
        }
    }

    /// Called when the task is released: no caller can read any more.
    func release() {
        loop.post {
            guard case .open(let connection) = self.stage else { return self.cancelEarly() }
            connection.close(.goingAway, "")
        }
    }

    private func cancelEarly() {
        switch stage {
        case .finishing, .over: break
        // `resume()` may be about to post the start, which does nothing then.
        case .idle, .asking, .resolving, .connecting, .handshaking, .open:
            fail(ClientError(.cancelled))
        }
    }

    // MARK: connecting

    private func start() {
        guard case .idle = stage, case .connecting = state.phase else { return }
        guard !loop.isEnding else {
            return fail(ClientError(.sessionInvalidated, "the session was invalidated"))
        }
        loop.webSockets.insert(self)
        trial.totalEnd = loop.now + limits.total
        if loop.configuration.transport != nil {
            return fail(ClientError(.notSupported, "a transport has no WebSockets"))
        }
        guard policy.authenticator.lacksToken(policy.upgraded(request, &context)) else {
            return begin()
        }
        ask(.token(refused: nil)) { [self] answer in
            if case .token(.failure(let error)) = answer { fail(error) } else { begin() }
        }
    }

    /// Begins to connect; `ended` then sends the handshake's request.
    func begin() {
        limitStage(by: limits.connect)
        request = policy.handshake(
            context.request.filled(from: loop.configuration, isDownload: false), &context)
        if let error = request.invalidField { return fail(error) }
        (trial.targets, trial.attempt) = ([], 0)
        findEndpoints()
    }

    func connect(to target: ConnectTarget?) {
        let wire: WireURL
        switch request.wire {
        case .success(let read): wire = read
        case .failure(let error): return fail(error)
        }
        guard let handle = loop.makeHandle() else {
            return fail(ClientError(.internalFailure, "no handle"))
        }
        context.target = target
        let login = policy.authenticator.proxyAuthorization(for: request, &context)
        let settings = loop.routing.connectionSettings(
            for: request, wire, to: target, proxyAuthorization: login)
        self.handle = handle
        self.settings = settings
        handle.configure(settings, for: self)
        handle.connectOnly()
        stage = .connecting
        if let refusal = handle.refusal {
            self.handle = nil
            return fail(ClientError(refusal: refusal))
        }
        guard loop.add(handle) else {
            self.handle = nil
            return fail(ClientError(.internalFailure, "libcurl does not take the transfer"))
        }
        // TLS may begin immediately, so its limit is checked from now on.
        loop.look(at: loop.now + limits.tls)
    }

    override var trace: (@Sendable (ClientTrace) -> Void)? { loop.configuration.trace }

    /// Receives a line of a proxy's response. False ends the attempt.
    override func received(line: UnsafeRawBufferPointer) -> Bool {
        do throws(ClientError) {
            try unsafe handshake.tunnel.add(
                line, limit: loop.configuration.headLimit, for: request)
            return true
        } catch {
            // libcurl would only report that a callback has failed.
            unsafe handshake.tunnelFault = error
            return false
        }
    }

    override func trusts(_ certificates: [[UInt8]], isTrusted: Bool) -> Bool {
        guard let settings else { return isTrusted }
        return loop.trusts(certificates, isTrusted: isTrusted, of: settings)
    }

    /// Called when libcurl has connected or failed to connect.
    override func ended(_ code: TransferResult.Code) {
        guard case .connecting = stage, let handle, let settings else { return }
        let result = TransferResult(code: code, message: handle.errorMessage)
        guard result.isSuccess else {
            if let fault = unsafe handshake.tunnelFault { return fail(fault) }
            let error = error(of: result, handle)
            if triesNext(after: error) { return }
            guard let refusal = unsafe handshake.tunnel.refusal else { return fail(error) }
            return refused(refusal, error, isForTunnel: true)
        }
        socket = handle.activeSocket
        guard socket >= 0 else {
            return fail(ClientError(.connectionLost, "the connection ended at once"))
        }
        stage = .handshaking
        limitStage(by: min(limits.firstByte, limits.idle))
        do throws(ClientError) {
            unsafe output.append(try handshake.request(request, settings.wire))
        } catch {
            return fail(error)
        }
        move()
    }

    private func error(of result: TransferResult, _ handle: EasyHandle) -> ClientError {
        let status = handle.proxyStatus
        if status == 407 { return ClientError(.authenticationRequired, "by the proxy") }
        if status >= 300 { return ClientError(.proxyRefused, "the proxy answered \(status)") }
        let systemError = handle.operatingSystemError
        let kind = ClientError.Kind(
            curl: result.code, verification: handle.verificationResult, message: result.message,
            isLost: systemError?.isConnectionLost ?? false,
            wasConnected: handle.tlsStart > 0 || handle.connectTime > 0)
        var text = result.text(for: kind)
        if kind == .cannotConnect, let systemError { text += ": \(systemError.reason)" }
        var error = ClientError(kind, text, curlCode: result.number)
        (error.phase, error.isSafeToRetry) = (.connecting, true)
        return error
    }

    // MARK: the handshake

    /// Receives bytes of the response.
    func received(handshake bytes: UnsafeRawBufferPointer) {
        let outcome: WebSocketHandshake.Outcome?
        do throws(ClientError) {
            outcome = try unsafe handshake.receive(bytes, from: request)
        } catch {
            return fail(error)
        }
        guard let outcome else { return }
        if let response = unsafe handshake.response {
            policy.learn(
                response, request,
                isOverruled: request.origin.map(loop.routing.isOverruled) ?? false
            )
            state.answered(response)
        }
        switch outcome {
        case .refused(let error):
            guard let response = unsafe handshake.response else { return fail(error) }
            refused(response, error, isForTunnel: false)
        case .accepted(let agreement): open(agreement)
        }
    }

    private func open(_ agreement: WebSocketOffer.Agreement) {
        let connection = WebSocketConnection(
            self, on: loop, role: .client, deflate: agreement.deflate, options: state.options)
        stage = .open(connection)
        (trial.stageEnd, trial.totalEnd) = (.max, .max)
        deadlineChanged()
        state.open(connection, subprotocol: agreement.protocol)
        var rest = unsafe handshake.takeRest()
        guard !rest.isEmpty else { return }
        unsafe rest.withUnsafeMutableBytes { unsafe connection.receive($0) }
    }

    // MARK: the end

    /// Ends the handshake with an error, also after a cancellation.
    func fail(_ error: ClientError) {
        var error = error
        error.url = request.url
        if error.phase == .preparing { error.phase = stage.phase }
        state.fail(error)
        end()
    }

    /// Ends the sending of messages. Bytes that were already written are still sent.
    func beginFinishing(leavesInput: Bool) {
        stage = .finishing(leavesInput: leavesInput)
        limitStage(by: leavesInput ? Self.lingering : Self.finishing)
        // The connection is in the middle of a call, so `move` runs after it.
        loop.post { self.move() }
    }

    private func finishAtOnce() {
        if case .open(let connection) = stage { connection.carrierEnded() }
        end()
    }

    /// Ends the runner, and lets libcurl close the connection.
    func end() {
        if case .over = stage { return }
        let before = stage
        stage = .over
        loop.webSockets.remove(self)
        disconnect()
        if case .open(let connection) = before { connection.carrierEnded() }
    }
}

extension WebSocketRunner {
    /// Lets libcurl close the connection.
    private func disconnect() {
        if socket >= 0 { loop.multi?.unwatch(socket) }
        socket = -1
        if let handle {
            loop.remove(handle)
            handle.detach()
        }
        handle = nil
    }

    /// Closes the connection, and resets all state for the next attempt.
    func startOver() {
        disconnect()
        unsafe handshake = Self.handshake(plan, loop)
        unsafe output.removeAll()
        flow = Flow(isReading: flow.isReading)
    }

    /// Closes the connection, and waits for the answer to a question.
    func wait() {
        startOver()
        stage = .asking
        // Only the total limit applies while waiting.
        trial.stageEnd = trial.totalEnd
        loop.look(at: trial.stageEnd)
    }
}

extension WebSocketRunner.Plan {
    /// The subprotocols of the task, or else those in the request's field.
    fileprivate var offered: [String] {
        guard protocols.isEmpty else { return protocols }
        let named = request.fields.values(of: .secWebSocketProtocol).joined(separator: ",")
        var known = Set<String>()
        return (FieldValues.tokens(named) ?? []).filter { known.insert($0).inserted }
    }
}
