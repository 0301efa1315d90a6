#if FoundationNetworking
    internal import Foundation
    internal import HTTPParser
    internal import URLClient

    #if canImport(FoundationNetworking)
        internal import FoundationNetworking
    #endif

    extension URLAuthenticationChallenge {
        /// Creates the challenge in Foundation's types.
        convenience init(_ challenge: ClientChallenge) {
            self.init(
                protectionSpace: URLProtectionSpace(known: challenge.space),
                proposedCredential: challenge.proposed.flatMap(URLCredential.init(known:)),
                previousFailureCount: challenge.failureCount,
                failureResponse: challenge.response.urlResponse, error: nil,
                sender: HandlerSender())
        }
    }

    extension URLProtectionSpace {
        /// Creates the space in Foundation's type.
        fileprivate convenience init(known space: ProtectionSpace) {
            let method =
                switch space.scheme {
                case .basic: NSURLAuthenticationMethodHTTPBasic
                case .digest: NSURLAuthenticationMethodHTTPDigest
                case .bearer: "Bearer"
                }
            let (host, port) = (space.origin.host, Int(space.origin.port))
            if space.isProxy {
                self.init(
                    proxyHost: host, port: port,
                    type: space.origin.isSecure
                        ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
                    realm: space.realm, authenticationMethod: method)
            } else {
                self.init(
                    host: host, port: port, protocol: space.origin.scheme, realm: space.realm,
                    authenticationMethod: method)
            }
        }
    }

    extension URLCredential {
        /// The credential as a `URLCredential`; nil for a token.
        convenience init?(known: ClientCredential) {
            guard case .password(let user, let password) = known else { return nil }
            self.init(user: user, password: password, persistence: .forSession)
        }
    }

    extension ChallengeAnswer {
        init(
            _ disposition: ClientURLSession.AuthChallengeDisposition, _ credential: URLCredential?
        ) {
            switch disposition {
            case .performDefaultHandling: self = .useProposed
            case .cancelAuthenticationChallenge: self = .cancel
            case .rejectProtectionSpace: self = .reject
            case .useCredential:
                // Without a credential, URLSession continues unauthenticated.
                guard let credential, let user = credential.user else {
                    self = .reject
                    return
                }
                self = .use(
                    .password(user: user, password: credential.password ?? ""),
                    remembers: credential.persistence != .none)
            }
        }
    }

    /// The sender that a challenge requires. It is never used: answers come by the completion
    /// handler.
    private final class HandlerSender: NSObject, URLAuthenticationChallengeSender,
        @unchecked Sendable
    {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
#endif
