// The endpoints that a WebSocket connects to.
extension WebSocketRunner {
    /// Connects to the `connectTo` of the request, or asks the session's policy for endpoints.
    func findEndpoints() {
        guard request.connectTo == nil, let policy = loop.configuration.endpoints,
            let origin = request.origin
        else { return connect(to: request.connectTo) }
        stage = .resolving
        let attempt = trial.attempt
        Task {
            let targets: Result<[ConnectTarget], any Error>
            do {
                targets = .success(try await policy.resolve(origin, attempt))
            } catch {
                targets = .failure(error)
            }
            self.loop.post { self.resolved(targets) }
        }
    }

    private func resolved(_ targets: Result<[ConnectTarget], any Error>) {
        guard case .resolving = stage else { return }
        switch targets {
        case .success(let targets):
            (trial.targets, trial.index) = (targets, 0)
            connect(to: targets.first)
        case .failure(let error as ClientError): fail(error)
        case .failure(let error):
            fail(ClientError(.hookFailed, "the endpoints: \(error)", underlying: error))
        }
    }

    /// Tries the next endpoint after a connection failed, before anything of the handshake was
    /// sent. When no endpoint is left, calls the policy again, up to `attempts` times in all.
    /// - Returns: false if no other endpoint is tried.
    func triesNext(after error: ClientError) -> Bool {
        guard !trial.targets.isEmpty else { return false }
        switch error.kind {
        // A proxy refuses a target that it cannot connect to.
        case .cannotConnect, .cannotFindHost, .timedOut(.connect), .timedOut(.tls),
            .secureConnectionFailed, .proxyRefused:
            break
        default: return false
        }
        if trial.index + 1 < trial.targets.count {
            trial.index += 1
            startOver()
            limitStage(by: limits.connect)
            connect(to: trial.targets[trial.index])
            return true
        }
        guard let policy = loop.configuration.endpoints, trial.attempt + 1 < policy.attempts else {
            return false
        }
        trial.attempt += 1
        startOver()
        limitStage(by: limits.connect)
        findEndpoints()
        return true
    }
}
