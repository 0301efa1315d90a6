internal import Synchronization
package import ToolkitSystem

/// Names a value that handlers keep with a request, and its type.
///
/// ```swift
/// enum UserKey: RequestKey { typealias Value = User }
/// request[UserKey.self] = user
/// ```
public protocol RequestKey {
    /// The type of the value under this key.
    associatedtype Value: Sendable
}

extension Request {
    /// A value that a handler stores with the request; `nil` until it is set.
    ///
    /// All copies of a request share these values: what an inner handler sets, the middleware
    /// around it and the access log see.
    public subscript<Key: RequestKey>(key: Key.Type) -> Key.Value? {
        get {
            guard let made = storage.valuesIfMade else { return nil }
            return made.values.withLock { $0[ObjectIdentifier(key)] } as? Key.Value
        }
        nonmutating set {
            storage.madeValues.values.withLock { $0[ObjectIdentifier(key)] = newValue }
        }
    }
}

/// The address of the client, as a trusted proxy reported it.
package enum ForwardedPeerKey: RequestKey { package typealias Value = PeerAddress }

/// The observers of the end of an answer.
enum AnswerEndKey: RequestKey {
    typealias Value = @Sendable (Request, _ failure: ConnectionCloseReason?) -> Void
}

extension Request {
    /// Calls a closure when the answer was sent or given up; call this method before returning the
    /// answer. The closures of a request are called in the order of these calls.
    /// - Parameter body: gets the request, which it must not capture, and the error that cut the
    ///   answer short, if any; it runs on the connection's event loop and must not block.
    package func whenAnswered(
        _ body: @escaping @Sendable (Request, _ failure: ConnectionCloseReason?) -> Void
    ) {
        guard let first = self[AnswerEndKey.self] else {
            self[AnswerEndKey.self] = body
            return
        }
        self[AnswerEndKey.self] = { request, failure in
            first(request, failure)
            body(request, failure)
        }
    }

    /// Calls the closures of ``whenAnswered(_:)``, once each.
    func answerEnded(_ failure: ConnectionCloseReason?) {
        guard let observer = self[AnswerEndKey.self] else { return }
        self[AnswerEndKey.self] = nil
        observer(self, failure)
    }
}

/// The values of one request; created when the first value is set.
package final class RequestValues: Sendable {
    let values = Locked<[ObjectIdentifier: any Sendable]>([:])
}
