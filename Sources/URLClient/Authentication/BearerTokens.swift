internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// Where the tokens of Bearer come from (RFC 6750).
public struct BearerAuthentication: Sendable {
    /// The servers that may see the token. It goes nowhere else.
    public var origins: Set<Origin>
    let makeToken: @Sendable (_ refused: String?) async throws -> String?

    /// Creates a source of tokens.
    /// - Parameters:
    ///   - origins: the servers that may see the token.
    ///   - token: gives a token. It is called when there is none, with nil, and when a server has
    ///     refused the one there was, with that one; once, however many requests wait for it. Nil
    ///     means that there is no token, and the request goes out without. An error that it throws
    ///     ends the tasks that wait.
    public init(
        origins: Set<Origin>,
        token: @escaping @Sendable (_ refused: String?) async throws -> String?
    ) {
        self.origins = origins
        makeToken = token
    }
}

/// The token that is valid now, and the one renewal that all wait for.
package final class BearerTokens: Sendable {
    private struct State {
        var token: String?
        var renewal: Task<String?, any Error>?
        /// Counts renewals, so that one that is over does not end the next.
        var number = 0
    }

    private let source: BearerAuthentication
    private let state = Locked(State())

    package init(_ source: BearerAuthentication) {
        self.source = source
    }

    package func covers(_ origin: Origin) -> Bool { source.origins.contains(origin) }

    /// The token, if it is there.
    package var current: String? { state.withLock { $0.token } }

    /// Forgets the token, and the one that a renewal brings that still runs.
    package func reset() {
        state.withLock { state in
            (state.token, state.renewal) = (nil, nil)
            state.number += 1
        }
    }

    /// The token, or a new one where it is the one that was refused. A renewal that runs is waited
    /// for; a waiter that is cancelled does not stop it.
    package func token(refused: String? = nil) async throws -> String? {
        let (token, renewal, number) = state.withLock {
            state -> (String?, Task<String?, any Error>?, Int) in
            if let token = state.token, token != refused { return (token, nil, 0) }
            if let renewal = state.renewal { return (nil, renewal, state.number) }
            state.number += 1
            let source = source
            let renewal = Task { try await source.makeToken(refused) }
            state.renewal = renewal
            return (nil, renewal, state.number)
        }
        guard let renewal else { return token }
        let result = await renewal.result
        state.withLock { state in
            guard state.number == number, state.renewal != nil else { return }
            state.renewal = nil
            state.token = try? result.get()
        }
        return try result.get()
    }
}

/// The credentials of Bearer (RFC 6750 section 2.1).
package enum BearerAuthorization {
    /// `nil` for what is no token68: it could not be sent as one.
    package static func value(token: String) -> String? {
        let value = "Bearer \(token)"
        guard let field = AuthorizationField(value), case .token68 = field.content else {
            return nil
        }
        return value
    }

    /// The token of a value, if it has one.
    package static func token(of value: String) -> String? {
        guard let field = AuthorizationField(value), field.scheme == "bearer",
            case .token68(let token) = field.content
        else { return nil }
        return token
    }
}
