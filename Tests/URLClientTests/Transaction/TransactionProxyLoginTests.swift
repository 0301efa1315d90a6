import HTTPParser
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("RFC 9110, 11.7: a proxy that refuses its configured login")
struct TransactionProxyLoginTests {
    /// `u:wrong`.
    private static let wrong = "Basic dTp3cm9uZw=="
    /// `v:right`.
    private static let right = "Basic djpyaWdodA=="

    private static func script(_ scheme: ClientProxy.Scheme) -> MachineScript {
        var configuration = ClientConfiguration.ephemeral
        configuration.proxy = .proxy(
            ClientProxy(
                host: "p.example", port: 8080, user: "u", password: "wrong", scheme: scheme))
        // The tests answer challenges in its place.
        configuration.authentication.challenge = { _ in .reject }
        return MachineScript(.get, "http://a.example/", configuration)
    }

    private static let challenge: HTTPFields = [.proxyAuthenticate: "Basic realm=\"p\""]

    @Test(
        "The application's answer replaces the refused login for the rest of the task",
        arguments: [ClientProxy.Scheme.basic, .digest])
    func answered(_ scheme: ClientProxy.Scheme) {
        var script = Self.script(scheme)
        let first = scheme == .basic ? Self.wrong : nil
        #expect(script.sent.last?.fields[.proxyAuthorization] == first)
        script.respond(.proxyAuthenticationRequired, Self.challenge)
        #expect(script.log.last == "ask challenge p")
        let credential = ClientCredential.password(user: "v", password: "right")
        script.answer(.challenge(.use(credential, remembers: false)))
        #expect(script.sent.count == 2)
        #expect(script.sent.last?.fields[.proxyAuthorization] == Self.right)
        script.respond(.found, [.location: "/next"])
        #expect(script.sent.last?.url.absoluteString == "http://a.example/next")
        #expect(script.sent.last?.fields[.proxyAuthorization] == Self.right)
        script.respond(.ok)
        #expect(script.log.last == "done")
    }

    @Test(
        "After another refusal the application is asked again, and no refused login is sent again")
    func refusedAgain() {
        var script = Self.script(.basic)
        for user in ["v", "w"] {
            script.respond(.proxyAuthenticationRequired, Self.challenge)
            #expect(script.log.last == "ask challenge p")
            let credential = ClientCredential.password(user: user, password: "right")
            script.answer(.challenge(.use(credential, remembers: false)))
        }
        let values = script.sent.map { $0.fields[.proxyAuthorization] }
        #expect(values.count == 3 && Set(values).count == 3, "\(values)")
        script.respond(.proxyAuthenticationRequired, Self.challenge)
        script.answer(.challenge(.reject))
        #expect(script.log.suffix(2) == ["deliver 407", "done"])
    }
}
