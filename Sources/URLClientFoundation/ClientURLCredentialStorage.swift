#if FoundationNetworking
    public import Foundation
    public import URLClient

    #if canImport(FoundationNetworking)
        public import FoundationNetworking
    #endif

    /// The credentials of a session with the names of `URLCredentialStorage`, based on
    /// ``/URLClient/CredentialStorage``: one credential for each space, in memory.
    public final class ClientURLCredentialStorage: NSObject, @unchecked Sendable {
        /// The underlying storage.
        public let client: CredentialStorage

        /// Creates a wrapper of a storage.
        public init(client: CredentialStorage) { self.client = client }

        /// Creates an empty storage.
        public override convenience init() { self.init(client: CredentialStorage()) }

        /// Stores a credential for a space, and replaces an existing one.
        public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
            setDefaultCredential(credential, for: space)
        }

        /// Stores the credential for requests to a space. A space with the method
        /// `NSURLAuthenticationMethodDefault` stands for all spaces of its host; on a proxy, for
        /// Basic and Digest in its realm. For spaces with other methods, such as NTLM, nothing is
        /// stored: the client does not support them, and must not send the password by Basic
        /// instead.
        public func setDefaultCredential(
            _ credential: URLCredential, for space: URLProtectionSpace
        ) {
            guard let user = credential.user else { return }
            change(.password(user: user, password: credential.password ?? ""), for: space)
        }

        /// The credential of a space; nil without one.
        public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
            guard space.takesPassword else { return nil }
            return client.credential(for: ProtectionSpace(space))
                .flatMap(URLCredential.init(known:))
        }

        /// The credential of a space with its user as the key; nil without one.
        public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
            guard let known = defaultCredential(for: space), let user = known.user else {
                return nil
            }
            return [user: known]
        }

        /// Removes a credential from a space, if the stored credential has the same user.
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
                // A credential of the origin would be sent to a server, and not to the proxy.
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
        /// Whether the client supports the space's method for passwords.
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

        /// The scheme of the space's URLs. The space of a proxy has a type in place of a protocol.
        ///
        /// On some systems Foundation's constants differ from the names of the schemes.
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
