internal import HTTPCodecs
internal import HTTPParser

// From the request of a transaction to its transfer: where to connect to, what to send, and when.
extension TransactionRunner {
    // MARK: connect to host

    func findTargets() {
        // A redirect to another origin has left it behind.
        if let target = sent.connectTo {
            targets = [target]
            prepareBody()
        } else if let policy = configuration.endpoints {
            askForTargets(policy)
        } else {
            prepareBody()
        }
    }

    func askForTargets(_ policy: EndpointPolicy) {
        guard let origin = sent.origin else { return }
        let attempt = attempt
        resolvingSince = loop.now
        loop.look(at: loop.now + limits.connect)
        wait(for: { () async -> Result<[ConnectTarget], ClientError> in
            do {
                return .success(try await policy.resolve(origin, attempt))
            } catch let error as ClientError {
                return .failure(error)
            } catch {
                return .failure(
                    ClientError(.hookFailed, "the endpoints: \(error)", underlying: error))
            }
        }) { runner, answer in
            runner.resolvingSince = 0
            switch answer {
            case .failure(let error): runner.fail(error)
            case .success(let targets):
                runner.targets = targets
                runner.targetIndex = 0
                runner.prepareBody()
            }
        }
    }

    // MARK: content to send

    func prepareBody() {
        if let upload, upload.position == 0, targetIndex > 0 || attempt > 0 || keepsUpload {
            keepsUpload = false
            self.upload = upload
            return enqueue()
        }
        upload?.close()
        upload = nil
        switch sent.body.content {
        case .none: enqueue()
        case .bytes(let bytes) where bytes.isEmpty && sent.method.givesContentNoMeaning: enqueue()
        case .bytes(let bytes):
            upload = UploadSource(bytes)
            enqueue()
        case .file(let path, let offset, let count):
            do throws(ClientError) {
                upload = try UploadSource(path: path, offset: offset, count: count)
            } catch {
                return fail(error)
            }
            enqueue()
        case .stream(let length, _, let make): openStream(length, make)
        }
    }

    private func openStream(
        _ length: Int64?, _ make: @escaping @Sendable () async throws -> ClientBody.Pull?
    ) {
        wait(for: { () async -> Result<ClientBody.Pull?, ClientError> in
            do {
                return .success(try await make())
            } catch {
                return .failure(ClientError(.bodyFailed, "\(error)", underlying: error))
            }
        }) { runner, answer in
            switch answer {
            case .failure(let error): runner.fail(error)
            case .success(nil):
                runner.fail(ClientError(.bodyNotReplayable, "a stream can be sent once"))
            case .success(.some(let pull)):
                let feed = UploadFeed()
                runner.upload = UploadSource(feed, length: length)
                feed.start(pull) {
                    runner.loop.post { runner.transfer?.resumeSending() }
                }
                runner.enqueue()
            }
        }
    }

    // MARK: the queue

    func enqueue() {
        guard let origin = sent.origin else { return }
        guard !holds.contains(.suspension) else {
            stage = .parked
            return
        }
        if let upload { task.counters.expectToSend(upload.length) }
        queuedSince = loop.now
        let slot = loop.admission.slot(for: origin, sharesConnections: sharesConnections)
        self.slot = slot
        if loop.admission.take(slot) { return run() }
        stage = .queued
        loop.admission.wait(self, in: slot)
        loop.look(at: loop.now + limits.shortest)
    }

    /// Whether it may share a connection with others.
    private var sharesConnections: Bool {
        switch sent.protocols ?? configuration.protocols {
        case .automatic, .http2PriorKnowledge: true
        case .http1, .http10: false
        }
    }

    /// There is a place.
    func admitted() { run() }

    private func run() {
        stage = .running
        guard let handle = loop.takeHandle(), case .success(let wire) = sent.wire else {
            releaseSlot()
            return fail(ClientError(.internalFailure, "no handle"))
        }
        let settings = settings(wire)
        let transfer = CurlTransfer(self, handle, settings, upload: upload, now: loop.now)
        handle.configure(settings, for: transfer)
        if let refusal = handle.refusal {
            let result = TransferResult(code: refusal, message: "")
            handle.detach()
            loop.leaveTunnel(settings)
            releaseSlot()
            return fail(
                ClientError(.notSupported, result.text(for: .notSupported), curlCode: result.number)
            )
        }
        self.transfer = transfer
        guard loop.add(handle) else {
            removeTransfer()
            return fail(ClientError(.internalFailure, "libcurl does not take the transfer"))
        }
        loop.look(at: loop.now + limits.shortest)
    }

    private func settings(_ wire: WireURL) -> TransferSettings {
        let target = targetIndex < targets.count ? targets[targetIndex] : nil
        let shared = loop.sharedRoute(
            for: sent, to: wire.origin, target, receivesMuch: sink.receivesMuch)
        let route =
            shared
            ?? TransferRoute(
                sent, to: wire.origin, target: target,
                isFirstOrigin: isFirst(wire.origin),
                receivesMuch: sink.receivesMuch, configuration)
        var settings = TransferSettings(
            wire: wire, method: sent.method, fields: fields(for: route, target),
            upload: upload.map { UploadLength(length: $0.length) },
            expectationWait: expectationWait, route: route)
        guard route.hasProxy || sent.cookieBytes != nil else { return settings }
        var overrides = TransferSettings.Overrides(cookieBytes: sent.cookieBytes)
        if settings.tunnels, let proxy = route.proxy {
            overrides.needsOwnTunnel = loop.noteAsking(proxy, as: tunnelUser)
        }
        settings.overrides = CopyOnWriteBox(overrides)
        return settings
    }

    /// Who asks a proxy for a tunnel: all that goes through it later is that user's.
    private var tunnelUser: String? {
        sent.fields[.proxyAuthorization]
            ?? context.memory.withLock { $0.proxyCredential }?.identity
    }

    /// Whether it is where the task was sent, be it that its host is reached by https alone.
    private func isFirst(_ origin: Origin) -> Bool {
        origin == context.originalRequest.origin
            || origin == context.memory.withLock { $0.upgradedOrigin }
    }

    /// The fields, with what the proxy has to be told, if there is one.
    private func fields(for route: TransferRoute, _ target: ConnectTarget?) -> HTTPFields {
        var fields = sent.fields
        guard route.hasProxy, !fields.contains(.proxyAuthorization) else { return fields }
        context = context.with(target)
        fields[.proxyAuthorization] = decider.proxyAuthorization(for: sent, in: context)
        return fields
    }

    private var expectationWait: Duration? {
        guard let upload,
            case .above(let bytes, let wait) = sent.expectation ?? configuration.expectation,
            upload.length ?? .max > bytes
        else { return nil }
        return wait
    }

    func releaseSlot() {
        guard let slot else { return }
        self.slot = nil
        loop.admission.release(slot)
    }

    /// Takes the transfer out of libcurl.
    func removeTransfer() {
        guard let transfer else { return }
        self.transfer = nil
        loop.leaveTunnel(transfer.settings)
        loop.remove(transfer.handle)
        loop.giveBack(transfer.handle)
        releaseSlot()
    }
}
