internal import HTTPParser

// From the request of a transaction to its transfer.
extension TransactionMachine {
    mutating func start(
        _ request: ClientRequest, _ limits: TransactionLimits
    ) -> TransactionAction {
        times.limits = limits
        times.start = now
        if let error = Self.fault(of: request) { return complete(error) }
        return begin(request)
    }

    /// The error of a request that no session can send; nil for a valid request.
    static func fault(of request: ClientRequest) -> ClientError? {
        if case .failure(let error) = request.wire { return error }
        // For a HEAD request with content, libcurl would wait for content of the response.
        if request.method.givesContentNoMeaning, request.body.length != 0,
            !request.allowsContentWithoutMeaning || request.method == .head
        {
            return ClientError(.contentNotAllowed, "\(request.method) with content")
        }
        return nil
    }

    /// Begins a transaction.
    mutating func begin(_ next: ClientRequest) -> TransactionAction {
        state = .preparing
        (response, content, ending, question) = (nil, nil, nil, nil)
        (times.asking, times.resolving, times.queued) = (nil, nil, nil)
        discarded = 0
        endpoints = Endpoints(reusesContent: endpoints.reusesContent)
        context.request = next
        context.target = nil
        return began(policy.begin(next, &context))
    }

    /// Begins a transaction after a delay.
    mutating func begin(_ next: ClientRequest, after delay: Duration) -> TransactionAction {
        guard delay > .zero else { return begin(next) }
        state = .preparing
        return ask(.delay(delay), .delay(next))
    }

    mutating func began(_ step: TransactionStep) -> TransactionAction {
        switch step {
        case .ask(let question): return ask(question, .beginning)
        case .send(let request):
            sent = request
            return .prepare(request)
        case .serve(let answer): return serve(answer)
        case .fail(let error): return complete(error)
        case .deliver, .follow, .giveUp:
            return complete(ClientError(.internalFailure, "no request"))
        }
    }

    mutating func prepared(_ error: ClientError?) -> TransactionAction {
        if let error { return fail(TransactionFailure(error)) }
        if case .failure(let error) = sent.wire { return fail(TransactionFailure(error)) }
        if configuration.transport != nil {
            state = .awaitingHead
            return ask(.exchange(sent), .exchange)
        }
        if let target = sent.connectTo {
            endpoints.targets = [target]
        } else if configuration.endpoints != nil {
            return askForEndpoints()
        }
        return openContent()
    }

    // MARK: where to

    mutating func askForEndpoints() -> TransactionAction {
        guard let origin = sent.origin else { return .none }
        times.resolving = now
        return ask(.endpoints(origin, attempt: endpoints.attempt), .endpoints)
    }

    mutating func found(
        _ targets: Result<[ConnectTarget], ClientError>
    ) -> TransactionAction {
        times.resolving = nil
        switch targets {
        case .failure(let error): return fail(TransactionFailure(error))
        case .success(let targets):
            (endpoints.targets, endpoints.index) = (targets, 0)
            return openContent()
        }
    }

    /// Tries the next endpoint, if no server can have received a byte of the request; nil
    /// otherwise.
    mutating func nextEndpoint(after error: ClientError) -> TransactionAction? {
        guard isUndecided, error.isSafeToRetry, !endpoints.targets.isEmpty else { return nil }
        switch error.kind {
        // A proxy refuses a target that it cannot connect to.
        case .cannotConnect, .cannotFindHost, .timedOut(.connect), .timedOut(.tls),
            .secureConnectionFailed, .proxyRefused:
            break
        default: return nil
        }
        if endpoints.index + 1 < endpoints.targets.count {
            endpoints.index += 1
            state = .preparing
            return openContent()
        }
        guard sent.connectTo == nil, let policy = configuration.endpoints,
            endpoints.attempt + 1 < policy.attempts
        else { return nil }
        endpoints.attempt += 1
        state = .preparing
        return askForEndpoints()
    }

    // MARK: content and queue

    private mutating func openContent() -> TransactionAction {
        let reuses = endpoints.reusesContent || endpoints.index > 0 || endpoints.attempt > 0
        endpoints.reusesContent = false
        return .openContent(sent, reuses: reuses)
    }

    mutating func enqueue() -> TransactionAction {
        guard !pauses.contains(.suspension) else {
            state = .parked
            return .none
        }
        state = .queued
        times.queued = now
        return .enqueue(sent)
    }

    mutating func admitted() -> TransactionAction {
        state = .awaitingHead
        times.queued = nil
        context.target = endpoints.current
        guard !sent.fields.contains(.proxyAuthorization),
            let value = policy.authenticator.proxyAuthorization(for: sent, &context)
        else { return .send(sent, to: endpoints.current) }
        // The field is not added to `sent`: the credential belongs to the proxy, not to the
        // request.
        var request = sent
        request.fields[.proxyAuthorization] = value
        return .send(request, to: endpoints.current)
    }

    // MARK: facts for the transfer

    func isFirstOrigin(_ origin: Origin) -> Bool { context.isFirstOrigin(origin) }

    /// The user who requests a tunnel from a proxy. Later requests through the tunnel are sent in
    /// this user's name.
    var tunnelUser: String? {
        sent.fields[.proxyAuthorization] ?? context.memory.proxyLogin?.credential.identity
    }
}
