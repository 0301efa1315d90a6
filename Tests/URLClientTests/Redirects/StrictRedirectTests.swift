import HTTPParser
import Testing
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("RFC 6797, 8.3: redirects to hosts of strict transport")
struct StrictRedirectTests {
    @Test(
        "A redirect from https to http becomes https on a known host, else it is refused",
        arguments: [
            ("http://a.example/next", "https://a.example/next"),
            ("HTTP://A.example:80/next", "https://A.example/next"),
            ("http://a.example:8080/next", "https://a.example:8080/next"),
            ("http://b.example/next", nil),
        ] as [(String, String?)])
    func upgraded(_ location: String, _ next: String?) {
        let store = StrictTransportStore()
        store.receive(
            [.strictTransportSecurity: "max-age=1000"],
            from: Origin(scheme: "https", host: "a.example"),
            now: HTTPDate(secondsSinceEpoch: 784_111_777))
        var request = ClientRequest(.get, "https://a.example/")
        request.fields["X-API-Key"] = "k"
        var script = MachineScript(request, .scripted { $0.strictTransport = store })
        script.respond(.found, [.location: location])
        guard let next else {
            #expect(script.sent.count == 1 && script.error?.kind == .redirectRefused)
            return
        }
        #expect(script.sent.last?.url.absoluteString == next)
        // The same origin gets all fields, another port does not.
        let isSame = !next.contains(":8080")
        #expect((script.sent.last?.fields["X-API-Key"] != nil) == isSame)
    }
}
