#if FoundationNetworking
    public import Foundation
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The credentials of a session, by the names of `URLCredentialStorage`, over
    /// ``/URLClient/CredentialStorage``: one for each space, in memory.
    public final class ClientURLCredentialStorage: NSObject, @unchecked Sendable {
        /// The storage below.
        public let client: CredentialStorage

        /// Gives a storage the names of `URLCredentialStorage`.
        public init(client: CredentialStorage) { self.client = client }

        /// Creates an empty storage.
        public override convenience init() { self.init(client: CredentialStorage()) }

        /// Stores a credential for a space, in the place of the one that is there.
        public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
            setDefaultCredential(credential, for: space)
        }

        /// Stores the credential that requests to a space are sent with. A space whose method is
        /// `NSURLAuthenticationMethodDefault` stands for all of its host's, and one of a proxy for
        /// Basic and Digest in its realm. Spaces of other methods, such as NTLM, keep nothing: no
        /// request sends a password by them, and it must not go out by Basic in place of them.
        public func setDefaultCredential(
            _ credential: URLCredential, for space: URLProtectionSpace
        ) {
            guard let user = credential.user else { return }
            change(.password(user: user, password: credential.password ?? ""), for: space)
        }

        /// The credential of a space; nil when there is none.
        public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            guard space.takesPassword else { return nil }
            return client.credential(for: ProtectionSpace(space))
                .flatMap(URLCredential.init(known:))
        }

        /// The credential of a space by its user; nil when there is none.
        public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
            guard let known = defaultCredential(for: space), let user = known.user else {
                return nil
            }
            return [user: known]
        }

        /// Removes a credential from a space, if it is the one that is there.
        public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
            guard defaultCredential(for: space)?.user == credential.user else { return }
            change(nil, for: space)
        }

        private func change(_ credential: ClientCredential?, for space: URLProtectionSpace) {
            guard space.takesPassword else { return }
            let known = ProtectionSpace(space)
            if space.authenticationMethod != NSURLAuthenticationMethodDefault {
                client.set(credential, for: known)
            } else if known.isProxy {
                // A credential of the origin would go to a server there, and not to the proxy.
                for scheme in [ProtectionSpace.Scheme.basic, .digest] {
                    client.set(
                        credential,
                        for: ProtectionSpace(
                            origin: known.origin, realm: known.realm, scheme: scheme,
                            isProxy: true))
                }
            } else {
                client.set(credential, for: known.origin)
            }
        }
    }

    extension URLProtectionSpace {
        /// Whether requests are sent with a password by its method.
        fileprivate var takesPassword: Bool {
            [
                NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
                NSURLAuthenticationMethodHTTPDigest,
            ].contains(authenticationMethod)
        }
    }

    extension ProtectionSpace {
        fileprivate init(_ space: URLProtectionSpace) {
            let isDigest = space.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
            let port = UInt16(exactly: space.port).flatMap { $0 == 0 ? nil : $0 }
            self.init(
                origin: Origin(scheme: Self.scheme(of: space), host: space.host, port: port),
                realm: space.realm ?? "", scheme: isDigest ? .digest : .basic,
                isProxy: space.isProxy())
        }

        /// The scheme of the URLs there. The space of a proxy has a type in place of a protocol.
        ///
        /// The constants of Foundation are other texts than the schemes on some systems.
        private static func scheme(of space: URLProtectionSpace) -> String {
            let name = (space.isProxy() ? space.proxyType : space.protocol) ?? ""
            switch name {
            case NSURLProtectionSpaceHTTPS, NSURLProtectionSpaceHTTPSProxy, "https": return "https"
            case NSURLProtectionSpaceHTTP, "": return "http"
            default: return space.isProxy() ? "http" : name
            }
        }
    }
#endif
