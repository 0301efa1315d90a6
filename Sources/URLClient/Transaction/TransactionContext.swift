internal import HTTPCodecs
package import HTTPParser

/// State that a task carries from one transaction to the next.
package struct TransactionContext: Sendable {
    /// The request that the task was created with.
    package let originalRequest: ClientRequest
    /// Whether a delegate answers questions about the task.
    package let hasDelegate: Bool
    /// Whether the content goes to a file that is the task's result; the cache ignores such tasks.
    package var isDownload: Bool
    /// The request of this transaction, upgraded to https for HSTS hosts, before the session adds
    /// cookies, credentials and validators.
    package internal(set) var request: ClientRequest
    /// The address that this transaction connects to instead of its origin. Set when the request is
    /// admitted.
    package internal(set) var target: ConnectTarget?
    /// How many redirects were followed.
    package private(set) var redirectCount = 0
    /// How many requests in a row were sent again with credentials.
    package private(set) var authenticationCount = 0
    /// How many requests in a row were sent again after a failure.
    package private(set) var retryCount = 0
    /// The state that ``TransactionPolicy`` keeps for the task.
    package var memory = TransactionMemory()

    package init(_ request: ClientRequest, isDownload: Bool = false, hasDelegate: Bool = false) {
        originalRequest = request
        self.request = request
        self.isDownload = isDownload
        self.hasDelegate = hasDelegate
    }

    /// Whether an origin is that of the task's original request, possibly upgraded to https by
    /// HSTS.
    func isFirstOrigin(_ origin: Origin) -> Bool {
        origin == originalRequest.origin || origin == memory.upgradedOrigin
    }

    /// Counts one more request.
    mutating func count(_ reason: FollowReason) {
        switch reason {
        case .redirect:
            redirectCount += 1
            (authenticationCount, retryCount) = (0, 0)
        case .authentication: authenticationCount += 1
        case .retry: retryCount += 1
        }
    }
}

/// Why another request follows. The delegate is asked about redirects.
package enum FollowReason: Sendable, Hashable {
    case redirect, authentication, retry
}

/// The next step of a transaction, as ``TransactionPolicy`` decides it.
package enum TransactionStep: Sendable {
    /// The policy needs an answer, which is passed to ``TransactionPolicy/answered(_:_:)``.
    case ask(TransactionQuestion)
    /// The request is sent.
    case send(ClientRequest)
    /// A stored response answers.
    indirect case serve(StoredAnswer)
    /// The response is the task's result, and may be stored.
    case deliver(StoragePlan? = nil)
    /// Another request follows.
    case follow(ClientRequest, FollowReason, after: Duration = .zero)
    /// The task fails, with the error of the transaction.
    case giveUp
    /// The task fails with another error.
    case fail(ClientError)
}

/// A question that code outside of the machine answers, usually later.
package indirect enum TransactionQuestion: Sendable {
    /// The source of tokens: a token, in place of one that was refused.
    case token(refused: String?)
    /// The cache's folder: the stored response for a URL and the fields of a request.
    case storedResponse(url: String, HTTPFields)
    /// The application: how to answer a challenge.
    case challenge(ClientChallenge)
    /// The delegate: whether to follow a redirect.
    case redirect(ClientRequest, from: ClientResponse)
    /// The delegate: whether a response may be stored.
    case storing(ClientResponse)
    /// The delegate: what to do with a response.
    case disposition(ClientResponse)
    /// The delegate's queue: waits until the delegate was notified of everything so far.
    case notification
    /// The endpoint policy: where to connect to.
    case endpoints(Origin, attempt: Int)
    /// ``ClientConfiguration/transport``: the response.
    case exchange(ClientRequest)
    /// The clock: waits for a time.
    case delay(Duration)
}

/// The answer to a ``TransactionQuestion``.
package indirect enum TransactionAnswer: Sendable {
    case token(Result<String?, ClientError>)
    case storedResponse(ClientCache.Stored?)
    case challenge(ChallengeAnswer)
    /// Nil when the redirect is delivered instead of followed.
    case redirect(ClientRequest?)
    case storing(Bool)
    case disposition(ResponseDisposition)
    /// The answer to a question that only waits.
    case done
    case endpoints(Result<[ConnectTarget], ClientError>)
    case exchange(Result<CollectedResponse, ClientError>)
}

/// A stored response in place of one from the network.
package struct StoredAnswer: Sendable {
    package let response: ClientResponse
    package let content: StoredContent
    /// The request that revalidates it in the background (RFC 5861 section 3).
    package var revalidation: Revalidation?

    package struct Revalidation: Sendable {
        /// Identifies the stored response, which one request at a time revalidates.
        package let key: String
        package let request: ClientRequest
    }
}

/// How a response is stored while it is delivered.
package final class StoragePlan: Sendable {
    package let head: CachedHead
    /// The length of the content, if the server announced it.
    package let announced: Int64?
    /// ``ClientCache/moment`` when the request was made.
    let moment: UInt64

    init(head: CachedHead, announced: Int64?, moment: UInt64) {
        (self.head, self.announced, self.moment) = (head, announced, moment)
    }
}
