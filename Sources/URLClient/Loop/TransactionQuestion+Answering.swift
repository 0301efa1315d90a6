internal import HTTPCodecs
internal import HTTPParser

extension TransactionQuestion {
    /// Asks the question, and returns the answer.
    /// - Parameters:
    ///   - policy: the session's rules, with its sources of tokens, endpoints and stored responses.
    ///   - events: the task's delegate, if any.
    func answer(_ policy: TransactionPolicy, _ events: TaskEvents?) async -> TransactionAnswer {
        let configuration = policy.configuration
        switch self {
        case .token(let refused):
            return .token(await policy.authenticator.token(refused: refused))
        case .storedResponse(let url, let fields):
            return .storedResponse(await configuration.cache?.lookUp(url, fields))
        case .challenge(let challenge):
            if let ask = configuration.authentication.challenge {
                return .challenge(await ask(challenge))
            }
            return .challenge(await events?.answer(challenge) ?? .useProposed)
        case .redirect(let next, let response):
            guard let events else { return .redirect(next) }
            return .redirect(await events.willRedirect(to: next, from: response))
        case .storing(let response): return .storing(await events?.mayStore(response) ?? true)
        case .disposition(let response):
            return .disposition(await events?.disposition(for: response) ?? .allow)
        case .notification:
            await events?.allIsNotified()
            return .done
        case .endpoints(let origin, let attempt):
            return .endpoints(await configuration.endpoints(of: origin, attempt))
        case .exchange(let request): return .exchange(await configuration.exchange(request))
        case .delay(let duration):
            // Nothing cancels the task that sleeps.
            try? await Task.sleep(for: duration)
            return .done
        }
    }
}

extension ClientConfiguration {
    fileprivate func endpoints(
        of origin: Origin, _ attempt: Int
    ) async -> Result<[ConnectTarget], ClientError> {
        do {
            return .success(try await endpoints?.resolve(origin, attempt) ?? [])
        } catch let error as ClientError {
            return .failure(error)
        } catch {
            return .failure(ClientError(.hookFailed, "the endpoints: \(error)", underlying: error))
        }
    }

    fileprivate func exchange(
        _ request: ClientRequest
    ) async -> Result<CollectedResponse, ClientError> {
        guard let transport else { return .failure(ClientError(.internalFailure, "no transport")) }
        do {
            return .success(try await transport.answer(request))
        } catch let error as ClientError {
            return .failure(error)
        } catch {
            return .failure(ClientError(.hookFailed, "the transport: \(error)", underlying: error))
        }
    }

    /// Whether content codings are decoded. A file is written as the server sends it, unless the
    /// request asked for a coding: the gzip coding of a `.tar.gz` belongs to the file.
    @inline(__always)  // A call would copy the configuration.
    func decodes(_ request: ClientRequest, isFile: Bool) -> Bool {
        if let decodes = request.decodesContent { return decodes }
        guard decodesContent else { return false }
        return !isFile || request.fields[.acceptEncoding] != "identity"
    }
}
