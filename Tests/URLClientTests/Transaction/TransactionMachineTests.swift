import HTTPCodecs
import HTTPParser
import Testing
import URLClient

@Suite("The state machine of a task: responses")
struct TransactionMachineTests {
    @Test("A request is sent, its response is delivered, and the task ends")
    func plain() {
        var script = MachineScript()
        #expect(script.transcript() == ["send GET http://a.example/"])
        script.head(.ok)
        #expect(script.transcript() == ["deliver 200"])
        script.end()
        #expect(script.transcript() == ["done"])
        // No input changes the final state.
        script.respond(.ok)
        script.feed(.cancelled)
        #expect(script.transcript().isEmpty && script.machine.isOver)
    }

    @Test("The machine is small enough for an object of at most 1 KiB around it")
    func size() {
        #expect(MemoryLayout<TransactionMachine>.size < 660)
    }

    @Test("A request with an unsupported URL or with content that its method does not allow fails")
    func faults() {
        #expect(MachineScript(.get, "ftp://a.example/").log == ["fail unsupportedURL"])
        #expect(MachineScript(.get, body: .bytes([1])).log == ["fail contentNotAllowed"])
        for (method, isAllowed) in [(HTTPMethod.get, true), (.head, false)] {
            var request = ClientRequest(method, "http://a.example/", body: .bytes([1]))
            request.allowsContentWithoutMeaning = true
            let log = MachineScript(request).log
            #expect((log == ["fail contentNotAllowed"]) == !isAllowed, "\(log)")
        }
    }

    // MARK: redirects

    @Test(
        "The status of a redirect decides the method and the content of the next request",
        arguments: [
            (HTTPMethod.get, 301, "GET", false), (.get, 308, "GET", false),
            (.head, 303, "HEAD", false),
            (.post, 301, "GET", false), (.post, 302, "GET", false), (.post, 303, "GET", false),
            (.put, 303, "GET", false), (.put, 302, "PUT", true), (.post, 307, "POST", true),
            (.post, 308, "POST", true), (.delete, 301, "DELETE", false),
        ])
    func redirects(_ method: HTTPMethod, _ status: Int, _ next: String, _ keepsBody: Bool) throws {
        let hasBody = method == .post || method == .put
        var script = MachineScript(method, body: hasBody ? .bytes([1, 2]) : .none)
        script.head(try #require(HTTPStatus(status)), [.location: "/next"])
        script.end()
        script.respond(.ok)
        #expect(
            script.log == [
                "send \(method) http://a.example/", "discard", "send \(next) http://a.example/next",
                "deliver 200", "done",
            ])
        #expect((script.sent.last?.body.length == 2) == keepsBody)
    }

    @Test("The next request has the cookies that a redirect sets")
    func cookies() {
        var script = MachineScript()
        script.respond(.found, [.location: "/next", .setCookie: "a=b"])
        #expect(script.sent.map { $0.fields[.cookie] } == [nil, "a=b"])
    }

    @Test("Credentials of the request are sent to its origin only")
    func secrets() {
        var request = ClientRequest(.get, "http://a.example/")
        request.fields[.authorization] = "Basic x"
        var script = MachineScript(request)
        script.respond(.found, [.location: "/here"])
        script.respond(.found, [.location: "http://b.example/"])
        #expect(script.sent.map { $0.fields[.authorization] } == ["Basic x", "Basic x", nil])
    }

    @Test("The redirect limit ends the task")
    func redirectLimit() {
        var script = MachineScript(configuration: .scripted { $0.redirects.limit = 2 })
        for _ in 0..<3 { script.respond(.found, [.location: "/"]) }
        #expect(script.log.last == "fail tooManyRedirects" && script.sent.count == 3)
    }

    @Test("Content of a redirect above 64 KiB is not read")
    func longRedirect() {
        var facts = HeadFacts()
        facts.contentLength = 1 << 20
        var script = MachineScript()
        script.head(.found, [.location: "/next"], facts: facts)
        #expect(script.log.last == "stop reading")
        script.fail(.internalFailure)
        #expect(script.log.last == "send GET http://a.example/next")
        // Without an announced length, the received bytes are counted.
        script.head(.found, [.location: "/last"])
        script.feed(.content(64 << 10))
        #expect(script.log.last == "discard")
        script.feed(.content(1))
        #expect(script.log.last == "stop reading")
    }

    @Test("The delegate decides about redirects while the response is paused")
    func askedRedirect() {
        var script = MachineScript(hasDelegate: true)
        script.head(.found, [.location: "/next"])
        #expect(script.log.last == "ask redirect http://a.example/next")
        #expect(script.machine.pausesReceiving && !script.machine.pausesSending)
        // The transfer may end before the answer.
        script.end()
        #expect(script.log.last == "ask redirect http://a.example/next")
        script.answer(.redirect(ClientRequest(.get, "http://a.example/other")))
        #expect(script.log.last == "send GET http://a.example/other")
        script.respond(.found, [.location: "/third"])
        script.answer(.redirect(nil))
        #expect(script.transcript().suffix(2) == ["deliver 302", "ask disposition"])
        script.answer(.disposition(.allow))
        #expect(script.transcript() == ["done"])
    }

    @Test("A redirect by the delegate fails if its method does not allow its content")
    func contentOfRedirect() {
        var script = MachineScript(hasDelegate: true)
        script.respond(.found, [.location: "/next"])
        let next = ClientRequest(.head, "http://a.example/next", body: .bytes([1]))
        script.answer(.redirect(next))
        #expect(script.log.suffix(2) == ["abort contentNotAllowed", "fail contentNotAllowed"])
    }

    @Test("A redirect that the delegate sends to another origin loses the request's credential")
    func movedRedirect() {
        var request = ClientRequest(.get, "http://a.example/")
        request.credential = .password(user: "u", password: "p")
        var script = MachineScript(request, hasDelegate: true)
        script.respond(.found, [.location: "/next"])
        request.url = ClientRequest(.get, "http://b.example/").url
        script.answer(.redirect(request))
        #expect(script.sent.last?.credential == nil && script.sent.count == 2)
    }

    @Test("A redirect that the delegate sends to another origin loses the request's private fields")
    func movedFields() throws {
        for own in [nil, "Bearer own"] {
            var request = ClientRequest(
                .get, "http://a.example/",
                fields: [
                    .authorization: "Bearer t", .cookie: "a=b", "X-API-Key": "k",
                    .accept: "text/plain",
                ])
            var script = MachineScript(request, hasDelegate: true)
            script.respond(.found, [.location: "/next"])
            request.url = ClientRequest(.get, "http://b.example/").url
            if let own { request.fields[.authorization] = own }
            script.answer(.redirect(request))
            let sent = try #require(script.sent.last)
            #expect(script.sent.count == 2 && sent.fields[.authorization] == own)
            #expect(sent.fields[.accept] == "text/plain" && sent.fields[.cookie] == nil)
            #expect(sent.fields["X-API-Key"] == nil)
        }
    }

    // MARK: authentication

    private func login() -> ClientConfiguration {
        .scripted {
            $0.authentication.credentials = CredentialStorage()
            $0.authentication.credentials.set(
                .password(user: "u", password: "p"),
                for: ProtectionSpace(
                    origin: Origin(scheme: "http", host: "a.example", port: 80), realm: "r",
                    scheme: .basic))
        }
    }

    @Test("401 once: the stored credential is sent")
    func unauthorizedOnce() {
        var script = MachineScript(configuration: login())
        script.respond(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""])
        script.respond(.ok)
        #expect(script.sent.map { $0.fields[.authorization] } == [nil, "Basic dTpw"])
        #expect(script.log.suffix(2) == ["deliver 200", "done"])
    }

    @Test("401 twice: a credential that was refused is not sent again")
    func unauthorizedTwice() {
        var script = MachineScript(configuration: login())
        for _ in 0..<2 { script.respond(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""]) }
        #expect(script.sent.count == 2)
        #expect(script.log.suffix(2) == ["deliver 401", "done"])
    }

    private func realm(_ request: ClientRequest) -> String? {
        guard let value = request.fields[.authorization] else { return nil }
        return AuthorizationField(value)?["realm"]
    }

    @Test("RFC 9110, 11.5: the challenge of another space does not refuse the login that was sent")
    func spaces() {
        var script = MachineScript(configuration: loginEverywhere())
        script.respond(
            .unauthorized, [.wwwAuthenticate: "Digest realm=\"a\", nonce=\"n\", qop=\"auth\""])
        script.respond(.found, [.location: "/b/f"])
        script.respond(
            .unauthorized, [.wwwAuthenticate: "Digest realm=\"b\", nonce=\"n\", qop=\"auth\""])
        script.respond(.found, [.location: "/b/g"])
        script.respond(.found, [.location: "/c"])
        script.respond(.ok)
        #expect(script.sent.map(realm) == [nil, "a", "a", "b", "b", "a"])
        #expect(script.log.suffix(2) == ["deliver 200", "done"])
    }

    @Test(
        "A credential that Digest refuses is tried with Basic only in another realm",
        arguments: [("a", ["Digest"]), ("b", ["Digest", "Basic "])])
    func refusedSpace(_ realm: String, _ logins: [String]) {
        var script = MachineScript(configuration: loginEverywhere())
        let asked = "Digest realm=\"a\", nonce=\"n\", qop=\"auth\", Basic realm=\"\(realm)\""
        for _ in 0...logins.count { script.respond(.unauthorized, [.wwwAuthenticate: asked]) }
        let sent = script.sent.compactMap { $0.fields[.authorization] }
        #expect(sent.map { String($0.prefix(6)) } == logins)
        #expect(script.log.suffix(2) == ["deliver 401", "done"])
    }

    /// A configuration with a credential for all spaces of the origin.
    private func loginEverywhere(
        _ scheme: String = "http", _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) -> ClientConfiguration {
        .scripted {
            $0.authentication.credentials = CredentialStorage()
            $0.authentication.credentials.set(
                .password(user: "u", password: "p"), for: Origin(scheme: scheme, host: "a.example"))
            change(&$0)
        }
    }

    /// A store that has the host as one that requires https.
    private func knownHost() -> StrictTransportStore {
        let store = StrictTransportStore()
        store.receive(
            [.strictTransportSecurity: "max-age=1000"],
            from: Origin(scheme: "https", host: "a.example"),
            now: HTTPDate(secondsSinceEpoch: 784_111_777))
        return store
    }

    @Test("RFC 6797, 8.3: a request that is upgraded to https logs in to the https origin")
    func strictLogin() {
        let configuration = loginEverywhere("https") {
            $0.strictTransport = knownHost()
            $0.authentication.allowsBasicWithoutTLS = false
        }
        var script = MachineScript(configuration: configuration)
        script.respond(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""])
        script.respond(.ok)
        let send = "send GET https://a.example/"
        #expect(script.log == [send, "discard", send, "deliver 200", "done"])
        #expect(script.sent.map { $0.fields[.authorization] } == [nil, "Basic dTpw"])
    }

    @Test("RFC 6797, 8.3: a token of the https origin is renewed after an upgrade")
    func strictToken() {
        let origin = Origin(scheme: "https", host: "a.example")
        let bearer = BearerAuthentication(origins: [origin]) { _ in "unused" }
        var script = MachineScript(
            configuration: .scripted {
                $0.strictTransport = knownHost()
                $0.authentication.bearer = bearer
            })
        script.answer(.token(.success("one")))
        #expect(script.log == ["ask token", "send GET https://a.example/"])
        script.respond(.unauthorized)
        #expect(script.log.last == "ask token")
    }

    @Test("The delegate answers a challenge")
    func challenge() {
        var script = MachineScript(hasDelegate: true)
        script.head(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""])
        #expect(script.log.last == "ask challenge r")
        script.answer(.challenge(.use(.password(user: "u", password: "p"), remembers: false)))
        #expect(script.log.last == "discard")
        script.end()
        #expect(script.sent.last?.fields[.authorization] == "Basic dTpw")
        script.respond(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""])
        script.answer(.challenge(.reject))
        #expect(script.log.last == "ask disposition" && script.log.contains("deliver 401"))
    }

    @Test("The answer to a challenge can cancel the task")
    func cancelledChallenge() {
        var script = MachineScript(hasDelegate: true)
        script.head(.unauthorized, [.wwwAuthenticate: "Basic realm=\"r\""])
        script.answer(.challenge(.cancel))
        #expect(script.log.suffix(2) == ["abort cancelled", "fail cancelled"])
    }

    @Test("A token is fetched before the first request, and renewed once")
    func tokens() {
        let origin = Origin(scheme: "http", host: "a.example", port: 80)
        let bearer = BearerAuthentication(origins: [origin]) { _ in "unused" }
        var script = MachineScript(configuration: .scripted { $0.authentication.bearer = bearer })
        #expect(script.log == ["ask token"])
        script.answer(.token(.success("one")))
        #expect(script.log.last == "send GET http://a.example/")
        script.respond(.unauthorized)
        #expect(script.log.last == "ask token")
        script.answer(.token(.success("two")))
        // This source keeps nothing, so it is asked before each request.
        #expect(script.log.last == "ask token")
        script.answer(.token(.success("two")))
        script.respond(.unauthorized)
        #expect(script.sent.count == 2 && script.log.last == "done")
    }

    @Test("A tunnel that is refused with 407 fails without credentials")
    func tunnel() {
        var script = MachineScript(.get, "https://a.example/")
        let response = ClientResponse(
            url: script.machine.sent.url, status: .proxyAuthenticationRequired)
        let failure = TransactionFailure(ClientError(.authenticationRequired))
        script.feed(.tunnelRefused(response, failure))
        #expect(script.log.last == "fail authenticationRequired")
    }

    // MARK: the cache

    @Test("A stored response is served, or revalidated if the policy requires it")
    func cached() throws {
        let cache = ClientCache()
        let date = HTTPDate(secondsSinceEpoch: 784_111_777)
        let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"x\""]
        cache.keep(
            CachedHead(
                url: "http://a.example/", status: .ok, fields: fields, requestTime: date,
                responseTime: date, vary: [], variant: CacheRules.variant(of: [:], names: [])), [1])
        let configuration = ClientConfiguration.scripted { $0.cache = cache }
        #expect(MachineScript(configuration: configuration).log == ["serve 200", "pour", "done"])

        var request = ClientRequest(.get, "http://a.example/")
        request.cachePolicy = .reloadRevalidatingCacheData
        var script = MachineScript(request, configuration)
        #expect(script.sent.first?.fields[.ifNoneMatch] == "\"x\"")
        script.respond(.notModified, [.eTag: "\"x\""])
        #expect(script.log.suffix(4) == ["discard", "serve 200", "pour", "done"])

        request.cachePolicy = .returnCacheDataDontLoad
        request.url = ClientRequest(.get, "http://a.example/other").url
        #expect(MachineScript(request, configuration).log == ["fail notCached"])
    }

    @Test("A response is stored unless the delegate refuses", arguments: [true, false])
    func storing(_ isStored: Bool) {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        var alone = MachineScript()
        alone.head(.ok, fields)
        #expect(alone.log.last == "deliver 200, store")
        var script = MachineScript(hasDelegate: true)
        script.head(.ok, fields)
        #expect(script.log.last == "ask storing")
        script.answer(.storing(isStored))
        #expect(
            script.log.suffix(2) == [
                isStored ? "deliver 200, store" : "deliver 200", "ask disposition",
            ])
    }

    // MARK: the delegate and the response

    @Test("The delegate allows a response, cancels it, or makes it a download")
    func dispositions() {
        func script(_ disposition: ResponseDisposition) -> [String] {
            var script = MachineScript(hasDelegate: true)
            script.respond(.ok)
            _ = script.transcript()
            script.answer(.disposition(disposition))
            return script.log
        }
        #expect(script(.allow) == ["done"])
        #expect(script(.cancel) == ["abort cancelled", "fail cancelled"])
        #expect(script(.becomeDownload(path: nil)) == ["become download", "ask notification"])
    }

    @Test("A transport responds in place of the network")
    func transport() {
        var script = MachineScript(
            configuration: .scripted { configuration in
                configuration.transport = ClientTransport { CollectedResponse(to: $0) }
            })
        #expect(script.log == ["ask exchange"])
        let next = CollectedResponse(
            to: script.machine.sent, .found, fields: [.location: "/next"])
        script.answer(.exchange(.success(next)))
        #expect(script.log.last == "ask exchange")
        script.answer(.exchange(.success(CollectedResponse(to: script.machine.sent))))
        #expect(script.log.suffix(3) == ["deliver 200", "pour", "done"])
    }
}

extension MachineScript {
    init(configuration: ClientConfiguration) {
        self.init(.get, "http://a.example/", configuration)
    }
}
