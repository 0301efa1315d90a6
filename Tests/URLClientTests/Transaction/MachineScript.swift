import HTTPCodecs
import HTTPParser
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A state machine, its inputs, and a transcript of its actions, without a server, a thread or
/// libcurl. Actions whose outcome is always the same, such as opening content, are answered here.
struct MachineScript {
    var machine: TransactionMachine
    private(set) var log: [String] = []
    private(set) var lastAction = TransactionAction.none
    /// The requests that were sent.
    private(set) var sent: [ClientRequest] = []
    /// The error at the end, if there was one.
    private(set) var error: ClientError?
    var now: Int64 = 0
    private var question = 0
    /// Whether a place in the queue is free.
    var isAdmitted = true

    init(
        _ request: ClientRequest, _ configuration: ClientConfiguration = .ephemeral,
        hasDelegate: Bool = false, isDownload: Bool = false
    ) {
        let date = HTTPDate(secondsSinceEpoch: 784_111_777)
        let policy = TransactionPolicy(configuration, clock: { date }, random: { 0 })
        machine = TransactionMachine(
            policy,
            TransactionContext(request, isDownload: isDownload, hasDelegate: hasDelegate),
            asksDelegate: hasDelegate)
        let timeouts = request.timeouts ?? configuration.timeouts
        feed(.started(request, TransactionLimits(timeouts)))
    }

    init(
        _ method: HTTPMethod = .get, _ url: String = "http://a.example/",
        body: ClientBody = .none, _ configuration: ClientConfiguration = .ephemeral,
        hasDelegate: Bool = false
    ) {
        self.init(
            ClientRequest(method, url, body: body), configuration, hasDelegate: hasDelegate)
    }

    /// The transcript since the previous call.
    mutating func transcript() -> [String] {
        defer { log = [] }
        return log
    }

    // MARK: inputs

    mutating func feed(_ input: TransactionInput) {
        var next: TransactionInput? = input
        while let input = next {
            let action = machine.handle(input, at: now)
            lastAction = action
            note(action)
            next = outcome(of: action)
        }
    }

    mutating func head(
        _ status: HTTPStatus, _ fields: HTTPFields = HTTPFields(), facts: HeadFacts = HeadFacts()
    ) {
        feed(.head(ClientResponse(url: machine.sent.url, status: status, fields: fields), facts))
    }

    mutating func end() { feed(.ended(TransactionEnding())) }

    /// A response, from its head to its end.
    mutating func respond(_ status: HTTPStatus, _ fields: HTTPFields = HTTPFields()) {
        head(status, fields)
        end()
    }

    mutating func fail(
        _ kind: ClientError.Kind, isSafeToRetry: Bool = false, _ download: DownloadState? = nil
    ) {
        feed(
            .failed(
                TransactionFailure(
                    ClientError(kind, phase: .waiting, isSafeToRetry: isSafeToRetry),
                    download: download)))
    }

    mutating func answer(_ answer: TransactionAnswer) { feed(.answered(answer, to: question)) }

    /// An answer to the question before the open one.
    mutating func answerLate(_ answer: TransactionAnswer) {
        feed(.answered(answer, to: question - 1))
    }

    // MARK: actions

    private mutating func note(_ action: TransactionAction) {
        switch action {
        case .none, .prepare, .openContent, .applyPauses, .wait: break
        case .ask(let asked, let number):
            question = number
            log.append("ask \(Self.name(asked))")
        case .enqueue: if !isAdmitted { log.append("enqueue") }
        case .leaveQueue: log.append("leave queue")
        case .send(let request, let target):
            sent.append(request)
            let place = target.map { " to \($0)" } ?? ""
            log.append("send \(request.method) \(request.url.absoluteString)\(place)")
        case .deliver(let response, let plan):
            log.append("deliver \(response.status.code)\(plan == nil ? "" : ", store")")
        case .discard(let stops): log.append(stops ? "stop reading" : "discard")
        case .serve(let answer):
            let suffix = answer.revalidation == nil ? "" : ", revalidate"
            log.append("serve \(answer.response.status.code)\(suffix)")
        case .pour: log.append("pour")
        case .finishContent: break
        case .acceptFile: log.append("accept file")
        case .becomeDownload: log.append("become download")
        case .continueDownload(let data): log.append("continue at \(data.offset)")
        case .abort(let error): log.append("abort \(error.kind)")
        case .stop(let error): log.append("stop \(error.kind)")
        case .complete(let error):
            self.error = error
            log.append(error.map { "fail \($0.kind)" } ?? "done")
        }
    }

    private static func name(_ question: TransactionQuestion) -> String {
        switch question {
        case .token(let refused): refused == nil ? "token" : "new token"
        case .storedResponse: "disk"
        case .challenge(let challenge): "challenge \(challenge.space.realm)"
        case .redirect(let next, _): "redirect \(next.url.absoluteString)"
        case .storing: "storing"
        case .disposition: "disposition"
        case .notification: "notification"
        case .endpoints(_, let attempt): "endpoints \(attempt)"
        case .exchange: "exchange"
        case .delay: "delay"
        }
    }

    /// The input that follows an action at once, in a client without failures.
    private func outcome(of action: TransactionAction) -> TransactionInput? {
        switch action {
        case .prepare: .prepared(nil)
        case .openContent: .contentOpened(nil)
        case .enqueue: isAdmitted ? .admitted : nil
        case .deliver, .serve: .deliveryBegan(nil)
        case .pour, .finishContent: .contentFinished(nil)
        case .acceptFile(let response): .fileAccepted(.success(response))
        case .becomeDownload: .becameDownload(nil)
        case .continueDownload: .downloadContinued
        case .abort(let error), .stop(let error): .failed(TransactionFailure(error))
        case .none, .ask, .leaveQueue, .send, .discard, .applyPauses, .wait, .complete: nil
        }
    }
}

extension ClientConfiguration {
    /// With retries that have no delay.
    static func scripted(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> Self {
        var configuration = ClientConfiguration.ephemeral
        configuration.retries.firstDelay = .zero
        change(&configuration)
        return configuration
    }
}
