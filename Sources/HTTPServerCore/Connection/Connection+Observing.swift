internal import HTTPParser
internal import Logging
internal import ToolkitSystem

/// Notifies hooks, metrics and the access log. When none is installed the cost is one nil check.
extension Connection {
    // MARK: The connection

    /// Calls the `admits` hook before anything is read, and closes the connection if it refuses.
    func isAdmitted() -> Bool {
        if let admits = core.observers.hooks.admits, !admits(info) {
            logRefusal("refused a connection", info.peer)
            _ = unsafe state.close(nil)
            info.keepSocket(nil)
            transport.take()?.close()
            loop.remove(self)
            core.connectionClosed(info.socketPeer)
            core.observers.metrics?.connectionRefused()
            return false
        }
        core.observers.hooks.opened?(info)
        core.observers.metrics?.connectionOpened()
        return true
    }

    /// Reports that the connection was closed, and why.
    func wasClosed(_ reason: ConnectionCloseReason) {
        core.connectionClosed(info.socketPeer)
        loop.call {
            if core.logger.logLevel <= .trace {
                info.logger.trace("closed a connection", metadata: ["reason": "\(reason)"])
            }
            core.observers.hooks.closed?(info, reason)
            core.observers.metrics?.connectionClosed(info, reason)
        }
    }

    func noteReceived(_ count: Int) {
        info.addReceived(count)
        if let received = core.observers.hooks.received { loop.call { received(info, count) } }
    }

    func noteSent(_ count: Int) {
        info.addSent(count)
        if let sent = core.observers.hooks.sent { loop.call { sent(info, count) } }
    }

    /// Peers can cause refusals as often as they like, so no text is made unless it is logged.
    func logRefusal(_ message: Logger.Message, _ cause: some Sendable) {
        guard core.logger.logLevel <= .debug else { return }
        loop.call { info.logger.debug(message, metadata: ["cause": "\(cause)"]) }
    }

    func logError(_ message: Logger.Message, _ request: Request?, _ error: (any Error)? = nil) {
        let logger = request?.logger ?? info.logger
        loop.call { logger.error(message, metadata: error.map { ["error": "\($0)"] }) }
    }

    // MARK: Requests

    /// - Parameter storage: the request's storage; `nil` when its head could not be read.
    func beginObserving(_ storage: Request.Storage?) {
        guard core.observers.observesRequests else { return }
        unsafe response?.observation = RequestObservation(storage: storage, started: loop.now)
        if let began = core.observers.hooks.requestBegan, let storage {
            loop.call { began(Request(storage)) }
        }
    }

    /// Observes the response if a handler has called `whenAnswered`, to call its closure later.
    func awaitEnd(_ request: Request) {
        guard unsafe response?.observation == nil, request[AnswerEndKey.self] != nil else { return }
        unsafe response?.observation = RequestObservation(
            storage: request.storage, started: loop.now)
    }

    /// The response was sent, or will not be.
    /// - Parameter failure: why it was not sent completely; `nil` if it was.
    func endObserving(failure: ConnectionCloseReason? = nil) {
        if failure == nil, let report = core.observers.hooks.contentSent { reportSent(report) }
        guard var ended = unsafe response?.observation.take() else { return }
        if failure != nil {
            ended.contentBytes -= min(ended.contentBytes, unsafe output.waiting)
            ended.receivedBytes = unsafe exchange?.content.received ?? ended.receivedBytes
        }
        let now = Syscalls.monotonic()
        let record = AccessRecord(
            ended, connection: info, failure: failure, ended: now, time: loop.wallTime(of: now))
        loop.call {
            if core.observers.logsRequests { logEnd(record) }
            core.configuration.accessLog?(record)
            core.observers.hooks.requestEnded?(record)
            record.storage.map(Request.init)?.answerEnded(failure)
            if core.observers.hasMetrics { core.observers.metrics?.requestEnded(record) }
        }
    }

    private func logEnd(_ record: AccessRecord) {
        var metadata: Logger.Metadata = [
            "status": "\(record.status.code)", "duration": "\(record.duration)",
        ]
        if let failure = record.failure { metadata["failure"] = "\(failure)" }
        (record.request?.logger ?? info.logger).debug("answered a request", metadata: metadata)
    }

    // MARK: Progress

    func reportReceived(_ exchange: Exchange, _ report: ConnectionHooks.Progress) {
        guard let storage = unsafe response?.observation?.storage else { return }
        let received = unsafe exchange.content.received
        loop.call { report(Request(storage), received, exchange.announcedLength) }
    }

    /// Reports how much content of the response was sent, if that has grown since the last report.
    func reportSent(_ report: ConnectionHooks.Progress) {
        guard let observed = unsafe response?.observation, let storage = observed.storage
        else { return }
        let sent = observed.contentBytes - min(observed.contentBytes, unsafe output.waiting)
        guard sent > observed.reportedBytes else { return }
        unsafe response?.observation?.reportedBytes = sent
        loop.call { report(Request(storage), sent, observed.contentLength) }
    }
}
