internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

/// The source of tokens for Bearer (RFC 6750).
public struct BearerAuthentication: Sendable {
    /// The servers that get the token. It is sent to no other server.
    public var origins: Set<Origin>
    let makeToken: @Sendable (_ refused: String?) async throws -> String?

    /// Creates a source of tokens.
    /// - Parameters:
    ///   - origins: the servers that get the token.
    ///   - token: returns a token. It is called with nil if there is no token, and with the refused
    ///     token after a server has refused it; one call serves all requests that wait. If it
    ///     returns nil, requests are sent without a token; after a refusal, their tasks get the
    ///     refusal instead. An error that it throws ends the waiting tasks.
    public init(
        origins: Set<Origin>,
        token: @escaping @Sendable (_ refused: String?) async throws -> String?
    ) {
        self.origins = origins
        makeToken = token
    }
}

/// The current token, and the renewal that all requests wait for.
package final class BearerTokens: Sendable {
    private struct State {
        var token: String?
        var renewal: Task<String?, any Error>?
        /// Counts renewals and resets, so that the end of an old renewal does not affect the next.
        var number = 0
    }

    private let source: BearerAuthentication
    private let state = Locked(State())

    package init(_ source: BearerAuthentication) {
        self.source = source
    }

    package func covers(_ origin: Origin) -> Bool { source.origins.contains(origin) }

    /// The token, if there is one.
    package var current: String? { state.withLock { $0.token } }

    /// Forgets the token. The result of a running renewal is not kept.
    package func reset() {
        state.withLock { state in
            (state.token, state.renewal) = (nil, nil)
            state.number += 1
        }
    }

    /// The token, or a new one if the current one was refused. All callers wait for the same
    /// renewal; a cancelled caller does not stop it.
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
    /// The value of Authorization; `nil` if the token is no token68.
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
