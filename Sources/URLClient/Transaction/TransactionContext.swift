package import HTTPCodecs
package import HTTPParser

// What happens between transactions is decided here, by code without sockets.
//
// A task is a chain of transactions: a request goes out, the head of a response comes in, and then it is
// delivered, or another request follows. `TransactionRunner` moves the bytes and asks a `TransactionDecider` at
// three places:
//
//   begin    before each transaction: the request as it shall go out (cookies, credentials, validators),
//            or an answer without the network (cache)
//   decide   when the final head of a transaction is there: deliver it, or follow with another request
//            (redirect, credentials for a challenge, retry), or answer from the cache (304)
//   recover  when a transaction has failed and nothing was delivered: give up, or send a request again
//
// To plug in: conform a type to `TransactionDecider` and let `TransactionDeciders.make(for:)` give one; it is made
// once per session, from the session's configuration, and shared by its tasks. It is called in the
// session's loop: answer `.now` where nothing has to be waited for, and `.later` with a closure
// that may take its time (a delegate, a token, a disk). The transfer is held meanwhile. What a task
// has to remember from transaction to transaction stands in `TransactionContext`.

/// A decision, or how to get it.
package enum Decision<Value: Sendable>: Sendable {
    /// It is there.
    case now(Value)
    /// It takes time.
    case later(@Sendable () async -> Value)
}

/// How a transaction begins.
package enum TransactionStart: Sendable {
    /// The request goes out.
    case send(ClientRequest)
    /// An answer that was stored.
    case serve(ClientResponse, content: StoredContent)
    /// The task fails.
    case fail(ClientError)
}

/// What happens after the head of a response.
package enum TransactionDecision: Sendable {
    /// It is the task's answer. `recorder` sees the content pass, as it is delivered.
    case deliver(recorder: (any ContentRecorder)? = nil)
    /// Another request follows, after the content of this response was thrown away.
    case follow(ClientRequest, FollowReason, after: Duration = .zero)
    /// Instead of it, an answer that was stored.
    case serve(ClientResponse, content: StoredContent)
    /// The task fails.
    case fail(ClientError)
}

/// Why another request follows. The delegate is asked about redirects.
package enum FollowReason: Sendable, Hashable {
    case redirect, authentication, retry
}

/// What happens after a transaction that failed.
package enum TransactionRecovery: Sendable {
    /// The task fails.
    case giveUp
    /// A request goes out after a while.
    case retry(ClientRequest, after: Duration)
    /// An answer that was stored.
    case serve(ClientResponse, content: StoredContent)
}

/// What was there before the transaction in question.
package struct TransactionContext: Sendable {
    /// The task.
    package let task: TransferTask
    /// The request of this transaction as it was before `begin` added to it.
    package private(set) var request: ClientRequest
    /// What the decider remembers from transaction to transaction.
    package let memory = Locked(TransactionMemory())
    /// All that most first transactions do without.
    private var course: CopyOnWriteBox<Course>?

    private struct Course {
        var target: ConnectTarget?
        var history: [TransactionRecord] = []
        var redirectCount = 0
        var authenticationCount = 0
        var retryCount = 0
    }

    init(_ task: TransferTask, request: ClientRequest) {
        self.task = task
        self.request = request
    }

    private func changed(_ body: (inout Course) -> Void) -> TransactionContext {
        var values = course?.values ?? Course()
        body(&values)
        var context = self
        context.course = CopyOnWriteBox(values)
        return context
    }

    /// The task's number within its session.
    package var taskIdentifier: Int { task.identifier }
    /// The request that the task was created with.
    package var originalRequest: ClientRequest { task.originalRequest }
    /// Where this transaction connects to in place of its origin, once that is known.
    package var target: ConnectTarget? { course?.values.target }
    /// The requests of the transactions before, and what they led to. The last 32 are kept.
    package var history: [TransactionRecord] { course?.values.history ?? [] }
    /// How many redirects were followed.
    package var redirectCount: Int { course?.values.redirectCount ?? 0 }
    /// How many requests were sent again with credentials, one after the other.
    package var authenticationCount: Int { course?.values.authenticationCount ?? 0 }
    /// How many requests were sent again after a failure, one after the other.
    package var retryCount: Int { course?.values.retryCount ?? 0 }

    // A context is never changed, for others may have it in hand.

    /// The same for another request.
    func with(_ request: ClientRequest) -> TransactionContext {
        var context = self
        context.request = request
        return context
    }

    /// The same with what is known of where the transaction connects to.
    func with(_ target: ConnectTarget?) -> TransactionContext { changed { $0.target = target } }

    /// The same with one more transaction behind it.
    func adding(_ transaction: TransactionRecord) -> TransactionContext {
        changed { course in
            course.history.append(transaction)
            if course.history.count > 32 { course.history.removeFirst() }
        }
    }

    /// The same after one more request for a reason.
    func counting(_ reason: FollowReason) -> TransactionContext {
        changed { course in
            switch reason {
            case .redirect:
                course.redirectCount += 1
                (course.authenticationCount, course.retryCount) = (0, 0)
            case .authentication: course.authenticationCount += 1
            case .retry: course.retryCount += 1
            }
        }
    }
}

/// A transaction that is over.
package struct TransactionRecord: Sendable {
    package let request: ClientRequest
    package let response: ClientResponse
    package let reason: FollowReason
}

/// What happens after a proxy has refused a tunnel.
package enum TunnelDecision: Sendable {
    /// The same is tried with credentials.
    case again(ClientRequest)
    /// The task fails; nil for what the proxy has said.
    case fail(ClientError?)
}

/// Decides between the transactions of tasks.
package protocol TransactionDecider: Sendable {
    /// Before a transaction.
    func begin(_ request: ClientRequest, in context: TransactionContext) -> Decision<
        TransactionStart
    >
    /// What a proxy is told of who asks, when the way to the server is known; nil for nothing.
    func proxyAuthorization(for request: ClientRequest, in context: TransactionContext) -> String?
    /// After the head of a response. `request` is what `begin` has made of it.
    func decide(
        _ response: ClientResponse, to request: ClientRequest, in context: TransactionContext
    ) -> Decision<TransactionDecision>
    /// After a proxy has answered 407 where a tunnel was asked for. Nothing in this response comes
    /// from the server, so nothing of it is kept or delivered.
    func tunnelRefused(
        _ response: ClientResponse, to request: ClientRequest, in context: TransactionContext
    ) -> Decision<TunnelDecision>
    /// After a failure before anything was delivered.
    func recover(
        from error: ClientError, of request: ClientRequest, in context: TransactionContext
    ) -> Decision<TransactionRecovery>
}

/// Sees the content of a response pass; called in the session's loop.
package protocol ContentRecorder: AnyObject, Sendable {
    /// More content, content coding taken off.
    func record(_ bytes: UnsafeRawBufferPointer)
    /// Whether so much waits for it that no more should come.
    var isBehind: Bool { get }
    /// Calls back, from anywhere, when nothing waits any more.
    func onceCaughtUp(_ call: @escaping @Sendable () -> Void)
    /// All of it has passed.
    func finish(trailers: HTTPFields)
    /// The rest will not come.
    func abandon()
}

/// Makes the deciders of sessions.
enum TransactionDeciders {
    static func make(for configuration: ClientConfiguration) -> any TransactionDecider {
        TransactionPolicy(configuration)
    }
}
