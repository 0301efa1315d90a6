internal import HTTPParser

// Challenges of servers and proxies: the handshake is repeated with a credential, over another
// connection.
extension WebSocketRunner {
    /// The server has refused the handshake, or the proxy the tunnel to it.
    /// - Parameters:
    ///   - response: the response.
    ///   - error: the error of a handshake that is not repeated.
    ///   - isForTunnel: whether the response is the proxy's, to the request for a tunnel.
    func refused(_ response: ClientResponse, _ error: ClientError, isForTunnel: Bool) {
        guard policy.authenticator.mayAnswer(response, context, isForTunnel: isForTunnel) else {
            return fail(error)
        }
        follow(policy.authenticator.answer(response, &context), error)
    }

    private func follow(_ step: TransactionStep, _ refusal: ClientError) {
        switch step {
        case .ask(let question):
            ask(question) { [self] in follow(policy.answered($0, &context), refusal) }
        case .follow(_, let reason, _):
            context.count(reason)
            wait()
            begin()
        case .fail(let error): fail(error)
        case .send, .serve, .deliver, .giveUp: fail(refusal)
        }
    }

    /// Asks the application for a token, or for its answer to a challenge.
    func ask(
        _ question: TransactionQuestion, _ done: @escaping @Sendable (TransactionAnswer) -> Void
    ) {
        wait()
        Task {
            let answer = await question.answer(policy, nil)
            loop.post { [self] in
                guard case .asking = stage else { return }
                done(answer)
            }
        }
    }
}

extension ClientRequest {
    /// The request through a tunnel of its proxy: the bytes after the handshake are not HTTP.
    func tunnelled(_ configuration: ClientConfiguration) -> ClientRequest {
        guard case .proxy(var proxy, let bypass) = proxy ?? configuration.proxy else { return self }
        proxy.tunnels = true
        var request = self
        request.proxy = .proxy(proxy, bypass: bypass)
        return request
    }
}
