internal import HTTPCodecs
internal import HTTPParser

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Leads a task through its hops. All of it is done in the session's loop.
///
/// It says when bytes may flow, by holds, and never adds or removes a transfer while libcurl is
/// calling: what has to wait is done in `afterCallbacks()`.
final class TaskDriver: @unchecked Sendable {
    enum Stage { case fresh, preparing, parked, queued, running, over }

    /// What the content of the response is for.
    enum Purpose {
        case undecided
        case delivering
        case discarding(Sequel)
    }

    /// What comes after content that was thrown away.
    enum Sequel {
        case request(ClientRequest, FollowReason, after: Duration)
        case stored(ClientResponse, content: StoredContent)
    }

    /// Why nothing may flow.
    struct Holds: OptionSet {
        let rawValue: UInt8
        /// Somebody decides about the response.
        static let decision = Holds(rawValue: 1)
        /// The task is suspended.
        static let suspension = Holds(rawValue: 2)
        /// The reader of the content is behind.
        static let reader = Holds(rawValue: 4)
        /// The cache is behind.
        static let recorder = Holds(rawValue: 8)
    }

    /// Where the loop keeps it.
    var place: Int?
    /// Whether `afterCallbacks()` will be called.
    var isCalledAfterwards = false
    let loop: ClientLoop
    let decider: any HopDecider
    var task: TransferTask
    var sink: ContentSink
    /// The priority, as the queue needs it.
    var priority: Double

    var stage = Stage.fresh
    var purpose = Purpose.undecided
    var holds: Holds = []
    /// Counts what makes answers to older questions void.
    var epoch = 0
    var context: HopContext
    /// The request of this hop, and what it became by `begin`.
    var request: ClientRequest
    var sent: ClientRequest
    var response: ClientResponse?
    var transfer: Transfer?
    /// How the transfer ended while a decision was awaited.
    var ending: Ending?
    var pendingFailure: ClientError?
    var upload: UploadSource?
    /// Whether the next hop sends what this one has not begun to.
    var keepsUpload = false
    var slot: Admission.Slot?

    // Connect to host.
    var targets: [ConnectTarget] = []
    var targetIndex = 0
    var attempt = 0

    // Content.
    var decoder: ContentDecoder?
    var decoded: [UInt8] = []
    var recorder: (any ContentRecorder)?
    var delivered: Int64 = 0
    var discarded = 0
    /// What is delivered in place of content from the network.
    var served: StoredContent?
    /// How far stored content in a file was delivered.
    var reading: StoredReading?
    /// How often a download went on without anything new, and where it was then.
    var continuations = 0
    var lastOffset: Int64 = 0
    /// Whether a question has led to another one, so that the hold stays.
    var isAsking = false

    // Time.
    var limits = Limits(ClientTimeouts())
    var startTime: Int64 = 0
    var queuedSince: Int64 = 0
    var metrics = ClientMetrics()
    var security: (version: String, cipher: String)?
    var lastProgress: Int64 = 0

    /// How a transfer ended: nil for well.
    struct Ending {
        let error: ClientError?
        let trailers: HTTPFields
    }

    /// Stored content on its way to the sink.
    struct StoredReading {
        let file: StoredFile
        let ending: Ending
        var offset: Int64 = 0
        var isWaiting = false
    }

    init(_ loop: ClientLoop, _ decider: any HopDecider, _ task: TransferTask, _ sink: ContentSink) {
        self.loop = loop
        self.decider = decider
        self.task = task
        self.sink = sink
        request = task.originalRequest
        sent = request
        priority = request.priority
        context = HopContext(
            taskIdentifier: task.identifier, task: task, originalRequest: request, request: request)
    }

    var configuration: ClientConfiguration { loop.configuration }
    var headLimit: Int { configuration.headLimit }
    var hopURL: URL { sent.url }

    // MARK: begin

    func start() {
        guard stage == .fresh else { return }
        loop.register(self)
        startTime = loop.now
        limits = Limits(request.timeouts ?? configuration.timeouts)
        metrics.startDate = Date()
        if let error = fault(of: request) { return finish(error) }
        begin(
            request.filled(
                from: configuration, isDownload: sink.isFile, loop.usualFields))
    }

    /// What is wrong with a request before anything is done about it.
    private func fault(of request: ClientRequest) -> ClientError? {
        if case .failure(let error) = request.wire { return error }
        if request.method.givesContentNoMeaning, request.body.length != 0,
            !request.allowsContentWithoutMeaning
        {
            return ClientError(.contentNotAllowed, "\(request.method) with content")
        }
        return nil
    }

    /// Begins a hop.
    func begin(_ next: ClientRequest) {
        stage = .preparing
        epoch += 1
        purpose = .undecided
        response = nil
        recorder = nil
        ending = nil
        decoder = nil
        discarded = 0
        (targets, targetIndex, attempt) = ([], 0, 0)
        request = next
        context.request = next
        switch decider.begin(next, in: context) {
        case .now(let start): apply(start)
        case .later(let ask): wait(for: ask) { $0.apply($1) }
        }
    }

    private func apply(_ start: HopStart) {
        switch start {
        case .send(let request):
            sent = request
            task.setCurrent(request)
            if let error = request.unsendable { return fail(error) }
            findTargets()
        case .serve(let response, let content): serve(response, content)
        case .fail(let error): finish(error)
        }
    }

    /// Waits for an answer without holding anything up; it is void when the hop is over by then.
    func wait<Answer: Sendable>(
        for ask: @escaping @Sendable () async -> Answer,
        then use: @escaping @Sendable (TaskDriver, Answer) -> Void
    ) {
        let epoch = epoch
        Task {
            let answer = await ask()
            self.loop.post {
                guard self.epoch == epoch, self.stage != .over else { return }
                use(self, answer)
            }
        }
    }

    // MARK: connect to host

    private func findTargets() {
        // Where a redirect leads to has addresses of its own.
        if let target = sent.connectTo, sent.origin == context.originalRequest.origin {
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
        wait(for: { () async -> Result<[ConnectTarget], ClientError> in
            do {
                return .success(try await policy.resolve(origin, attempt))
            } catch let error as ClientError {
                return .failure(error)
            } catch {
                return .failure(
                    ClientError(.hookFailed, "the endpoints: \(error)", underlying: error))
            }
        }) { driver, answer in
            switch answer {
            case .failure(let error): driver.fail(error)
            case .success(let targets):
                driver.targets = targets
                driver.targetIndex = 0
                driver.prepareBody()
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
        }) { driver, answer in
            switch answer {
            case .failure(let error): driver.fail(error)
            case .success(nil):
                driver.fail(ClientError(.bodyNotReplayable, "a stream can be sent once"))
            case .success(.some(let pull)):
                let feed = UploadFeed()
                driver.upload = UploadSource(feed, length: length)
                feed.start(pull) {
                    driver.loop.post { driver.transfer?.resumeSending() }
                }
                driver.enqueue()
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
        let slot = loop.admission.slot(for: origin)
        self.slot = slot
        if loop.admission.take(slot) { return run() }
        stage = .queued
        loop.admission.wait(self, in: slot)
        loop.look(at: loop.now + limits.shortest)
    }

    /// There is a place.
    func admitted() { run() }

    private func run() {
        stage = .running
        guard let handle = loop.takeHandle(), let settings = settings() else {
            releaseSlot()
            return fail(ClientError(.internalFailure, "no handle"))
        }
        let transfer = Transfer(self, handle, settings, upload: upload, now: loop.now)
        handle.configure(settings, for: transfer)
        if let refusal = handle.refusal {
            let result = TransferResult(code: refusal, message: "")
            handle.detach()
            releaseSlot()
            return fail(ClientError(.notSupported, result.text, curlCode: result.number))
        }
        self.transfer = transfer
        guard loop.add(handle) else {
            removeTransfer()
            return fail(ClientError(.internalFailure, "libcurl does not take the transfer"))
        }
        loop.look(at: loop.now + limits.shortest)
    }

    private func settings() -> HopSettings? {
        guard case .success(let wire) = sent.wire else { return nil }
        let target = targetIndex < targets.count ? targets[targetIndex] : nil
        let shared = loop.sharedRoute(
            for: sent, to: wire.origin, target, receivesMuch: sink.receivesMuch)
        let route =
            shared
            ?? HopRoute(
                sent, to: wire.origin, target: target,
                isFirstOrigin: wire.origin == context.originalRequest.origin,
                receivesMuch: sink.receivesMuch, configuration)
        return HopSettings(
            wire: wire, method: sent.method, fields: fields(for: route, target),
            upload: upload.map { UploadLength(length: $0.length) },
            expectationWait: expectationWait, route: route)
    }

    /// The fields, with what the proxy has to be told, if there is one.
    private func fields(for route: HopRoute, _ target: ConnectTarget?) -> HTTPFields {
        var fields = sent.fields
        guard route.proxy != nil, !fields.contains(.proxyAuthorization) else { return fields }
        context.target = target
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
        loop.remove(transfer.handle)
        loop.giveBack(transfer.handle)
        releaseSlot()
    }

    // MARK: holds

    var holdsReceiving: Bool { !holds.isEmpty }
    var holdsSending: Bool { holds.contains(.suspension) }

    /// Lets something go on that was held.
    func release(_ hold: Holds) {
        guard holds.contains(hold) else { return }
        holds.remove(hold)
        guard stage != .over else { return }
        if hold == .decision, let ending {
            self.ending = nil
            return conclude(ending)
        }
        loop.callAfterwards(self)
    }

    func suspend() {
        holds.insert(.suspension)
        switch stage {
        case .queued:
            if let slot { loop.admission.leave(self, slot) }
            slot = nil
            stage = .parked
        case .running: transfer?.applyHolds(stopsAtOnce: true)
        default: break
        }
    }

    func unsuspend() {
        release(.suspension)
        if stage == .parked { enqueue() }
    }

    /// Between two calls of libcurl.
    func afterCallbacks() {
        guard stage != .over else { return }
        if let error = pendingFailure {
            pendingFailure = nil
            removeTransfer()
            return failed(error)
        }
        if case .full = sink.flush() { holds.insert(.reader) }
        transfer?.applyHolds(stopsAtOnce: false)
        if reading != nil { readOn() }
    }
}
