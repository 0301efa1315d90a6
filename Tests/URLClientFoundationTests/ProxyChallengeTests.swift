#if FoundationNetworking
    import Foundation
    import HTTPCodecs
    import HTTPParser
    import HTTPServerCore
    import HTTPServerKit
    import TestSupport
    import Testing
    import ToolkitSystem
    import URLClient
    import URLClientFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// A delegate that answers a challenge only with a stored credential.
    private final class Guest: NSObject, URLSessionDelegate, @unchecked Sendable {
        struct Asked: @unchecked Sendable {
            let space: URLProtectionSpace
            let user: String?
        }

        private let log = Locked<[Asked]>([])
        var challenges: [Asked] { log.withLock { $0 } }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (
                    URLSession.AuthChallengeDisposition, URLCredential?
                ) -> Void
        ) {
            let asked = Asked(
                space: challenge.protectionSpace, user: challenge.proposedCredential?.user)
            log.withLock { $0.append(asked) }
            completionHandler(.performDefaultHandling, nil)
        }
    }

    @Suite("Challenges of proxies with URLSession's names", .timeLimit(.minutes(2)))
    struct ProxyChallengeTests {
        @Test(
            "A proxy's challenge has a proxy's space, and a credential stored for it is used",
            arguments: [false, true])
        func spaceOfProxy(_ byDefaultMethod: Bool) async throws {
            let login = "Basic \(Data("ada:lovelace".utf8).base64EncodedString())"
            // A proxy that answers in place of the server.
            let proxy = HTTPServer(
                ServerConfiguration(host: "127.0.0.1", port: 0),
                handler: AsyncHandler { request in
                    guard request.fields[.proxyAuthorization] == login else {
                        return Response(
                            .proxyAuthenticationRequired,
                            fields: [.proxyAuthenticate: "Basic realm=\"way out\""],
                            body: .text("no"))
                    }
                    return Response(.ok, body: .text("through"))
                })
            try await proxy.start()
            let port = try #require(proxy.addresses.first?.port)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.client.proxy = .proxy(ClientProxy(host: "127.0.0.1", port: port))
            let storage = URLCredentialStorage()
            configuration.urlCredentialStorage = storage
            let guest = Guest()
            let session = URLSession(configuration: configuration, delegate: guest)
            let request = URLRequest(url: try #require(URL(string: "http://name.test/")))
            #expect(await session.answer(request).1?.statusCode == 407)
            let asked = try #require(guest.challenges.first)
            let space = asked.space
            #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceHTTPProxy)
            #expect(space.host == "127.0.0.1" && space.port == Int(port))
            #expect(space.realm == "way out" && asked.user == nil)
            #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
            let known = URLCredential(
                user: "ada", password: "lovelace", persistence: .forSession)
            let method = NSURLAuthenticationMethodDefault
            storage.set(
                known,
                for: byDefaultMethod
                    ? URLProtectionSpace(
                        proxyHost: space.host, port: space.port, type: space.proxyType,
                        realm: space.realm, authenticationMethod: method) : space)
            #expect(storage.defaultCredential(for: space)?.user == "ada")
            let (data, response, _) = await session.answer(request)
            #expect(response?.statusCode == 200 && data == Data("through".utf8))
            #expect(guest.challenges.map(\.user) == [nil, "ada"])
            // The credential is not used for a server of the same address.
            let origin = URLProtectionSpace(
                host: space.host, port: space.port, protocol: "http", realm: space.realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            #expect(storage.defaultCredential(for: origin) == nil)
            session.invalidateAndCancel()
            await proxy.shutdown()
        }
    }
#endif
