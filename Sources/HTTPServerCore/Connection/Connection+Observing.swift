internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// Notifies hooks, metrics and the access log. When none is installed the cost is one nil check.
extension Connection {
    // MARK: The connection

    /// Asks whether the peer may talk, before anything was read, and closes otherwise.
    func isAdmitted() -> Bool {
        if let admits = core.hooks.admits, !admits(info) {
            logRefusal("refused a connection", info.peer)
            closing = .closed
            info.forgetSocket()
            transport?.close()
            transport = nil
            loop.remove(self)
            core.connectionClosed(info.peerAddress)
            core.metrics?.connectionRefused()
            return false
        }
        core.hooks.opened?(info)
        core.metrics?.connectionOpened()
        return true
    }

    /// The last that is heard of the connection.
    func wasClosed(_ reason: ConnectionCloseReason) {
        if core.logger.logLevel <= .trace {
            info.logger.trace("closed a connection", metadata: ["reason": "\(reason)"])
        }
        core.connectionClosed(info.peerAddress)
        core.hooks.closed?(info, reason)
        core.metrics?.connectionClosed(info, reason)
    }

    func noteReceived(_ count: Int) {
        info.addReceived(count)
        if let received = core.hooks.received { received(info, count) }
    }

    func noteSent(_ count: Int) {
        info.addSent(count)
        if let sent = core.hooks.sent { sent(info, count) }
    }

    /// Peers can cause these as often as they like: nothing is made of them unless it is shown.
    func logRefusal(_ message: Logger.Message, _ cause: some Sendable) {
        guard core.logger.logLevel <= .debug else { return }
        info.logger.debug(message, metadata: ["cause": "\(cause)"])
    }

    func logger(for request: Request?) -> Logger { request?.logger ?? info.logger }

    // MARK: Requests

    /// - Parameter request: `nil` when the head could not be read.
    func beginObserving(_ request: Request?) {
        guard core.observesRequests else { return }
        unsafe observation = RequestObservation(storage: request?.storage, started: loop.now)
        if let request, let began = core.hooks.requestBegan { began(request) }
    }

    /// Sees to it that the end of an answer is noticed where a handler waits for it.
    func awaitEnd(_ request: Request) {
        guard unsafe observation == nil, request[AnswerEndKey.self] != nil else { return }
        unsafe observation = RequestObservation(storage: request.storage, started: loop.now)
    }

    /// The response went out, or will not.
    /// - Parameter failure: why it did not go out whole.
    func endObserving(failure: ConnectionCloseReason? = nil) {
        if failure == nil, let told = core.hooks.contentSent { tellSent(told) }
        guard var ended = unsafe observation.take() else { return }
        if failure != nil {
            ended.contentBytes -= min(ended.contentBytes, output.waiting)
            ended.receivedBytes = exchange?.received ?? ended.receivedBytes
        }
        let now = Syscalls.monotonic()
        let record = AccessRecord(
            ended, connection: info, failure: failure, ended: now, time: loop.wallTime(of: now))
        if core.logsRequests { logEnd(record) }
        core.configuration.accessLog?(record)
        core.hooks.requestEnded?(record)
        if let request = ended.storage.map(Request.init), let told = request[AnswerEndKey.self] {
            told(request, failure)
        }
        if core.hasMetrics { core.metrics?.requestEnded(record) }
    }

    private func logEnd(_ record: AccessRecord) {
        let logger = record.request?.logger ?? info.logger
        var metadata: Logger.Metadata = [
            "status": "\(record.status.code)", "duration": "\(record.duration)",
        ]
        if let failure = record.failure { metadata["failure"] = "\(failure)" }
        logger.debug("answered a request", metadata: metadata)
    }

    // MARK: Progress

    func tellReceived(_ exchange: Exchange, _ told: ConnectionHooks.Progress) {
        guard let storage = unsafe observation?.storage else { return }
        told(Request(storage), exchange.received, exchange.announcedLength)
    }

    /// Reports how much content of the response was sent, if that has grown since the last report.
    func tellSent(_ told: ConnectionHooks.Progress) {
        guard let observed = unsafe observation, let storage = observed.storage else { return }
        let sent = observed.contentBytes - min(observed.contentBytes, output.waiting)
        guard sent > observed.toldBytes else { return }
        unsafe observation?.toldBytes = sent
        told(Request(storage), sent, observed.contentLength)
    }
}

/// The figures of a request, collected while it is answered.
struct RequestObservation {
    /// `nil` when the head could not be read.
    let storage: Request.Storage?
    let started: UInt64
    var status = HTTPStatus.badRequest
    /// How much content the response has, where that was known before; 0 where none is sent.
    var contentLength: Int64? = 0
    /// Content that was written, gone or not.
    var contentBytes: Int64 = 0
    /// Content of the request that has come.
    var receivedBytes: Int64 = 0
    /// The bytes of content that were reported so far.
    var toldBytes: Int64 = 0

    init(storage: Request.Storage?, started: UInt64) {
        self.storage = storage
        self.started = started
    }

    mutating func wroteAll() { contentBytes = contentLength ?? 0 }

    mutating func begins(_ response: Response, _ framing: BodyFraming) {
        status = response.status
        contentLength =
            switch framing {
            case .none, .tunnel: 0
            case .length(let length): length
            case .chunked, .untilClose: nil
            }
    }
}
