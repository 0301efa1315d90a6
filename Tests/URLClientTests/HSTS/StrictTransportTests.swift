import HTTPParser
import TestSupport
import Testing
import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@Suite("RFC 6797: Strict transport")
struct StrictTransportTests {
    private let now = HTTPDate(secondsSinceEpoch: 1_000_000)
    private let later = HTTPDate(secondsSinceEpoch: 1_000_100)

    private func known(
        _ value: String, from origin: String = "example.org", scheme: String = "https"
    ) -> StrictTransport {
        var hosts = StrictTransport()
        hosts.receive(
            [.strictTransportSecurity: value], from: Origin(scheme: scheme, host: origin), now: now)
        return hosts
    }

    @Test(
        "6.1: valid values are accepted",
        arguments: [
            "max-age=100", "Max-Age = 100", "max-age=\"100\"", ";max-age=100;", "x; max-age=100",
            "max-age=100; preload; y=\"a;b\"", "max-age=99999999999999999999",
        ])
    func grammar(_ value: String) {
        let hosts = known(value)
        #expect(hosts.isKnown("example.org", now: now))
        #expect(!hosts.isKnown("a.example.org", now: now))
    }

    @Test(
        "6.1: invalid values and max-age=0 add no host",
        arguments: [
            "", "max-age", "max-age=", "max-age=-1", "max-age=1x", "includeSubDomains",
            "max-age=100; max-age=100", "max-age=100 includeSubDomains", "max-age=100, x",
            "max-age=100; includeSubDomains=1", "max-age=100; MAX-AGE=5", "max-age=0",
        ])
    func refusal(_ value: String) {
        #expect(known(value).rules.isEmpty)
    }

    @Test("6.1.2: includeSubDomains covers subdomains by whole labels")
    func subdomains() {
        let hosts = known("includeSubDomains; max-age=100")
        #expect(
            hosts.isKnown("example.org", now: now) && hosts.isKnown("a.b.Example.org.", now: now))
        #expect(!hosts.isKnown("badexample.org", now: now) && !hosts.isKnown("org", now: now))
    }

    @Test("8.1: only the first field from a named https host counts; max-age=0 removes the host")
    func receiving() {
        #expect(known("max-age=100", scheme: "http").rules.isEmpty)
        for host in ["127.0.0.1", "::1", "1.2.3.0x4"] {
            #expect(known("max-age=100", from: host).rules.isEmpty)
        }
        var hosts = StrictTransport()
        var fields: HTTPFields = [.strictTransportSecurity: "max-age=5"]
        fields.append(.strictTransportSecurity, "max-age=500; includeSubDomains")
        let origin = Origin(scheme: "https", host: "example.org")
        hosts.receive(fields, from: origin, now: now)
        #expect(hosts.rules["example.org"]?.includesSubdomains == false)
        hosts.receive([.strictTransportSecurity: "max-age=0"], from: origin, now: now)
        #expect(hosts.rules.isEmpty)
    }

    @Test("5.3: a host expires after its max-age")
    func expiry() {
        let hosts = known("max-age=100")
        #expect(hosts.isKnown("example.org", now: HTTPDate(secondsSinceEpoch: 1_000_099)))
        #expect(!hosts.isKnown("example.org", now: later))
    }

    @Test(
        "8.3: the http URL of a known host becomes https",
        arguments: [
            ("http://example.org/a?b#c", "https://example.org/a?b#c"),
            ("HTTP://EXAMPLE.org:80/", "https://EXAMPLE.org/"),
            ("http://example.org:8080/", "https://example.org:8080/"),
            ("http://u:p@example.org/", "https://u:p@example.org/"),
            ("https://example.org/", nil), ("http://other.org/", nil), ("http://1.2.3.4/", nil),
            ("ftp://example.org/", nil),
        ])
    func upgrade(_ url: String, _ upgraded: String?) {
        #expect(known("max-age=100").upgraded(url, now: now) == upgraded)
    }

    @Test("A file of a newer version, or that cannot be read, is left as it is")
    func foreignFile() throws {
        let (newer, link) = (TemporaryPath(), TemporaryPath())
        let text = "{\"version\":2,\"hosts\":[]}"
        newer.write(text)
        let files = FileManager.default
        // A link to itself.
        try files.createSymbolicLink(atPath: link.text, withDestinationPath: link.text)
        for path in [newer, link] {
            let store = StrictTransportStore(file: path.text)
            #expect(store.loadError?.kind == .cannotOpenFile)
            store.receive(
                [.strictTransportSecurity: "max-age=100"],
                from: Origin(scheme: "https", host: "example.org"), now: WallClock.now)
            #expect(store.isKnown("example.org"))
            #expect(throws: ClientError.self) { try store.save() }
        }
        #expect(newer.content == text)
        #expect(try files.destinationOfSymbolicLink(atPath: link.text) == link.text)
    }

    @Test(
        "loadError names a newer version; a missing or damaged file counts as empty",
        arguments: [
            (nil, nil), ("", nil), ("[]", nil), ("{\"version\":1,\"hosts\":[]}", nil),
            ("{\"version\":2,\"hosts\":[]}", "hosts: the file has the newer version 2"),
        ] as [(String?, String?)])
    func loadError(_ content: String?, _ reason: String?) {
        let path = TemporaryPath()
        if let content { path.write(content) }
        let error = StrictTransportStore(file: path.text).loadError
        #expect(error?.message == reason)
        #expect(error == nil || error?.kind == .cannotOpenFile)
        #expect(StrictTransportStore().loadError == nil)
    }

    @Test("After concurrent saves by many threads, the file has all hosts", .timeLimit(.minutes(2)))
    func savedAtOnce() async throws {
        let path = TemporaryPath()
        let store = StrictTransportStore(file: path.text)
        let (running, failures) = (Locked(10), Locked(0))
        for thread in 0..<10 {
            OwnThread.start {
                for number in 0..<4 {
                    store.receive(
                        [.strictTransportSecurity: "max-age=1000"],
                        from: Origin(scheme: "https", host: "h\(thread)-\(number).example"),
                        now: WallClock.now)
                    do {
                        try store.save()
                    } catch {
                        failures.withLock { $0 += 1 }
                    }
                }
                running.withLock { $0 -= 1 }
            }
        }
        try await waitUntil { running.withLock { $0 } == 0 }
        #expect(failures.withLock { $0 } == 0)
        let again = StrictTransportStore(file: path.text)
        for thread in 0..<10 {
            for number in 0..<4 { #expect(again.isKnown("h\(thread)-\(number).example")) }
        }
    }

    @Test("Above the limit, the host that expires first is removed")
    func limit() {
        var hosts = StrictTransport(limit: 2)
        for (host, age) in [("a.example", 50), ("b.example", 10), ("c.example", 30)] {
            hosts.receive(
                [.strictTransportSecurity: "max-age=\(age)"],
                from: Origin(scheme: "https", host: host), now: now)
        }
        #expect(hosts.rules.keys.sorted() == ["a.example", "c.example"])
    }
}
