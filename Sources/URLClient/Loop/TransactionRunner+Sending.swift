internal import HTTPParser

// The content of a request, its place in the queue, and its transfer.
extension TransactionRunner {
    func openContent(of request: ClientRequest, reuses: Bool) -> TransactionInput? {
        if reuses, let upload, upload.position == 0 { return .contentOpened(nil) }
        upload?.close()
        upload = nil
        switch UploadSource.opening(of: request) {
        case .ready(let source):
            upload = source
            return .contentOpened(nil)
        case .failed(let error): return .contentOpened(error)
        case .stream(let length, let open):
            Task {
                let pull = await open()
                self.loop.post { self.streamOpened(pull, length) }
            }
            return nil
        }
    }

    private func streamOpened(_ pull: Result<ClientBody.Pull, ClientError>, _ length: Int64?) {
        switch pull {
        case .failure(let error): step(.contentOpened(error))
        case .success(let pull):
            guard !machine.isOver else { return }
            upload = UploadSource(pull, length: length)
            step(.contentOpened(nil))
        }
    }

    func enqueue(_ request: ClientRequest) -> TransactionInput? {
        guard let origin = request.origin else { return nil }
        if let upload { task.counters.expectToSend(upload.length) }
        meter.queuedSince = loop.now
        let slot = loop.admission.slot(
            for: origin, sharesConnections: request.sharesConnections(loop.configuration))
        self.slot = slot
        if loop.admission.take(slot) { return .admitted }
        loop.admission.wait(self, in: slot)
        loop.look(at: loop.now + machine.limits.shortest)
        return nil
    }

    /// Called when the waiting request may start.
    func admitted() { step(.admitted) }

    /// Leaves the queue. A slot without a transfer is one that the runner waits in.
    func leaveQueue() {
        guard transfer == nil, let slot = slot.take() else { return }
        loop.admission.leave(self, slot)
    }

    /// Opens the content once the request may start. After an error a retry is safe, because
    /// nothing was sent.
    private func beginUpload() -> ClientError? {
        do throws(ClientError) {
            try upload?.begin { self.loop.post { self.transfer?.resumeSending() } }
            return nil
        } catch {
            var failure = error
            failure.isSafeToRetry = true
            return failure
        }
    }

    func send(_ request: ClientRequest, to target: ConnectTarget?) -> TransactionInput? {
        if let error = beginUpload() {
            releaseSlot()
            return .failed(failure(error))
        }
        guard let handle = loop.takeHandle(), case .success(let wire) = request.wire else {
            releaseSlot()
            return .failed(failure(ClientError(.internalFailure, "no handle")))
        }
        let settings = loop.routing.settings(
            for: request, wire, to: target, isFirstOrigin: machine.isFirstOrigin(wire.origin),
            tunnelUser: machine.tunnelUser, upload: upload, receivesMuch: sink.receivesMuch)
        let transfer = CurlTransfer(self, handle, settings, upload: upload, now: loop.now)
        handle.configure(transfer.settings, for: transfer)
        self.transfer = transfer
        if let refusal = handle.refusal {
            endTransfer(isAdded: false)
            return .failed(failure(ClientError(refusal: refusal)))
        }
        guard loop.add(handle) else {
            endTransfer()
            return .failed(
                failure(ClientError(.internalFailure, "libcurl does not take the transfer")))
        }
        loop.look(at: loop.now + machine.limits.shortest)
        return nil
    }

    private func releaseSlot() {
        guard let slot = slot.take() else { return }
        loop.admission.release(slot)
    }

    /// Leaves the queue, and takes the transfer out of libcurl.
    /// - Parameter isAdded: whether libcurl has the transfer.
    func endTransfer(isAdded: Bool = true) {
        guard let transfer else { return leaveQueue() }
        self.transfer = nil
        if isAdded {
            if meter.isMeasuring {
                meter.note(
                    transfer, url: machine.sent.url, machine.response?.version,
                    sent: upload?.position ?? 0)
            }
            loop.remove(transfer.handle)
        }
        if transfer.tunnels { loop.routing.leaveTunnel(transfer.settings) }
        loop.giveBack(transfer.handle)
        upload?.closeFile()
        releaseSlot()
    }
}
