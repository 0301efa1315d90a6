internal import HTTPParser

// From the head of a response to the end of its content.
extension TransactionMachine {
    mutating func received(_ response: ClientResponse, _ facts: HeadFacts) -> TransactionAction {
        self.response = response
        self.facts = facts
        if response.status == .expectationFailed, facts.hasExpectation {
            return sendWithoutExpectation(response)
        }
        return decided(
            policy.decide(response, to: sent, isOverruled: facts.isOverruled, &context))
    }

    /// Sends the request again without `Expect` (RFC 9110 section 10.1.1), unless the content was
    /// sent in part and cannot be sent again: libcurl would resend it from the middle.
    private mutating func sendWithoutExpectation(_ response: ClientResponse) -> TransactionAction {
        guard facts.sentBytes == 0 || sent.body.isReplayable else {
            return .abort(
                ClientError(
                    .bodyNotReplayable, "417 Expectation Failed, and the content can be sent once"))
        }
        endpoints.reusesContent = facts.sentBytes == 0
        var next = context.request
        next.expectation = .never
        next.fields.remove(.expect)
        state = .discarding(.request(next, .retry, after: .zero))
        // Stop the transfer, because libcurl would repeat the request itself.
        return .discard(stops: true)
    }

    mutating func decided(_ step: TransactionStep) -> TransactionAction {
        guard let response else { return .none }
        switch step {
        case .ask(let question):
            state = .deciding
            return ask(question, .response)
        case .deliver(let plan):
            // The delegate is asked before anything is stored.
            guard let plan, asksDelegate else {
                return deliver(response, plan)
            }
            return askDelegate(.storing(response), .storing(plan))
        case .follow(let next, let reason, let delay):
            guard reason == .redirect, context.hasDelegate else {
                return discard(then: .request(next, reason, after: delay))
            }
            return askDelegate(.redirect(next, from: response), .redirect(next, after: delay))
        case .serve(let answer): return discard(then: .stored(answer))
        case .fail(let error): return .abort(error)
        case .send, .giveUp: return .abort(ClientError(.internalFailure, "no decision"))
        }
    }

    /// Asks the delegate, which has to answer within the idle limit.
    private mutating func askDelegate(
        _ question: TransactionQuestion, _ subject: OpenQuestion.Subject
    ) -> TransactionAction {
        state = .deciding
        times.asking = now
        return ask(question, subject)
    }

    // MARK: answers

    mutating func answered(
        _ answer: TransactionAnswer, _ subject: OpenQuestion.Subject
    ) -> TransactionAction {
        times.asking = nil
        switch (subject, answer) {
        case (.beginning, _): return began(policy.answered(answer, &context))
        case (.endpoints, .endpoints(let targets)): return found(targets)
        case (.delay(let next), _): return begin(next)
        case (.exchange, .exchange(let result)): return exchanged(result)
        case (.response, _): return decided(policy.answered(answer, &context))
        case (.tunnel(let failure), _):
            return tunnelDecided(policy.answered(answer, &context), failure)
        case (.redirect(let proposed, let delay), .redirect(let next)):
            guard let response else { return .none }
            guard let next else { return deliver(response, nil) }
            let request = next.withoutSecrets(of: proposed, configuration.redirects)
            if let error = Self.fault(of: request) { return .abort(error) }
            return discard(then: .request(request, .redirect, after: delay))
        case (.storing(let plan), .storing(let isStored)):
            guard let response else { return .none }
            return deliver(response, isStored ? plan : nil)
        case (.disposition, .disposition(let disposition)): return disposed(disposition)
        case (.notification, _): return conclude(otherwise: .applyPauses(atOnce: false))
        default: return .abort(ClientError(.internalFailure, "an answer to another question"))
        }
    }

    private mutating func disposed(_ disposition: ResponseDisposition) -> TransactionAction {
        isDisposed = true
        switch disposition {
        case .allow: return conclude(otherwise: .applyPauses(atOnce: false))
        case .cancel: return .abort(ClientError(.cancelled, "by the delegate, after the head"))
        case .becomeDownload(let path):
            guard response != nil, !context.isDownload else {
                return conclude(otherwise: .applyPauses(atOnce: false))
            }
            context.isDownload = true
            return .becomeDownload(path: path)
        }
    }

    mutating func becameDownload(_ error: ClientError?) -> TransactionAction {
        if let error { return .abort(error) }
        // The delegate gets the new task, and can cancel it, before anything is written.
        return ask(.notification, .notification)
    }

    /// Handles the answer of ``ClientConfiguration/transport``.
    private mutating func exchanged(
        _ result: Result<CollectedResponse, ClientError>
    ) -> TransactionAction {
        switch result {
        case .failure(let error): return fail(TransactionFailure(error))
        case .success(let answer):
            var head = answer.head
            if head.expectedLength == nil { head.expectedLength = Int64(answer.content.count) }
            content = .bytes(sent.method == .head ? [] : answer.content)
            ending = TransactionEnding(trailers: head.trailers)
            return received(head, HeadFacts())
        }
    }

    // MARK: delivered

    private mutating func deliver(
        _ response: ClientResponse, _ plan: StoragePlan?
    ) -> TransactionAction {
        if let data = facts.continuation {
            if data.isWhole(by: response) { return discard(then: .completeFile(response)) }
            if let next = restarted(data, response) {
                return discard(then: .request(next, .retry, after: .zero))
            }
        }
        state = .delivering
        return .deliver(response, plan)
    }

    /// The request for the whole content, if the server sends a part of another version, or has no
    /// such part.
    private func restarted(_ data: ResumeData, _ response: ClientResponse) -> ClientRequest? {
        guard sent.fields.contains(.range) else { return nil }
        switch response.status {
        case .partialContent where data.isOutdated(by: response): break
        case .rangeNotSatisfiable: break
        default: return nil
        }
        var next = context.request
        next.fields.remove(.range)
        next.fields.remove(.ifRange)
        return next
    }

    mutating func deliveryBegan(_ error: ClientError?) -> TransactionAction {
        if let error { return .abort(error) }
        guard asksDelegate, !isDisposed, let response else {
            return conclude(otherwise: .applyPauses(atOnce: false))
        }
        return ask(.disposition(response), .disposition)
    }

    mutating func serve(_ answer: StoredAnswer) -> TransactionAction {
        state = .delivering
        response = answer.response
        content = answer.content
        ending = TransactionEnding(trailers: answer.response.trailers)
        return .serve(answer)
    }

    // MARK: discarded

    private mutating func discard(then sequel: Sequel) -> TransactionAction {
        state = .discarding(sequel)
        guard ending == nil else { return conclude() }
        return .discard(stops: facts.contentLength ?? 0 > Int64(Self.discardLimit))
    }

    mutating func follow(_ sequel: Sequel) -> TransactionAction {
        switch sequel {
        case .stored(let answer): return serve(answer)
        case .completeFile(let response): return .acceptFile(response)
        case .request(let next, let reason, let delay):
            context.count(reason)
            return begin(next, after: delay)
        }
    }

    mutating func accepted(
        _ result: Result<ClientResponse, ClientError>
    ) -> TransactionAction {
        switch result {
        case .failure(let error): return complete(error)
        case .success(let response):
            state = .delivering
            self.response = response
            return .finishContent(trailers: HTTPFields())
        }
    }

    // MARK: the end of the transfer

    /// Continues after the end of the transfer, unless a question holds the response, or content
    /// without a connection has to wait until the task is resumed.
    /// - Parameter action: the action if the transfer runs, or the end has to wait.
    mutating func conclude(otherwise action: TransactionAction = .none) -> TransactionAction {
        guard let ending, !(question?.subject.holdsResponse ?? false),
            content == nil || !pauses.contains(.suspension)
        else { return action }
        self.ending = nil
        switch state {
        case .discarding(let sequel):
            content = nil
            return follow(sequel)
        case .delivering:
            if let failure = ending.failure { return fail(failure) }
            guard let content else { return .finishContent(trailers: ending.trailers) }
            self.content = nil
            return .pour(content, trailers: ending.trailers)
        default:
            return fail(
                ending.failure
                    ?? TransactionFailure(ClientError(.emptyResponse, "no head of a response")))
        }
    }
}

extension ClientRequest {
    /// The request that a delegate returns for a redirect. If it names another origin, the secrets
    /// of the proposed request are removed; values that the delegate itself has set stay.
    fileprivate func withoutSecrets(
        of proposed: ClientRequest, _ policy: RedirectPolicy
    ) -> ClientRequest {
        guard let origin, let other = proposed.origin, origin != other else { return self }
        var request = self
        if credential == proposed.credential { request.credential = nil }
        if connectTo == proposed.connectTo, !origin.isUpgrade(of: other) { request.connectTo = nil }
        var kept = proposed.fields
        RedirectFields.leave(other, for: origin, &kept, policy)
        for name in proposed.fields.map(\.name) where !kept.contains(name) {
            guard fields.values(of: name) == proposed.fields.values(of: name) else { continue }
            request.fields.remove(name)
        }
        return request
    }
}
