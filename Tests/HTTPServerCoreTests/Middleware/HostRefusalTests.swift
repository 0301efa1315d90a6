import HTTPServerCore
import HTTPServerKit
import Logging
import TestSupport
import Testing
import ToolkitSystem

@Suite("RFC 9110, 15.5.20: Misdirected requests and their remedy")
struct HostRefusalTests {
    private let lines = ServerLog<String>()
    private let now = Locked<UInt64>(0)

    private func handler(_ setting: String = "AllowedHosts") -> HostCheckHandler {
        let now = now
        return HostCheckHandler(
            Sample.target, hosts: AllowedHosts(["good.example"]), setting: setting,
            clock: { now.withLock { $0 } })
    }

    private func ask(_ handler: any Handler, host: String) async throws -> ServerAnswer {
        try await exchange(
            handler, host: host, configuration: KeptLines.configuration(lines, .warning))
    }

    @Test("The log and the response name the setting; only the log has the host")
    func setting() async throws {
        let answer = try await ask(handler("--allow-host"), host: "evil.example:81")
        #expect(answer.status == 421)
        #expect(answer.text.contains("--allow-host makes it known"))
        #expect(!answer.text.contains("evil"))
        let line = try #require(lines.entries.first)
        #expect(
            line.hasPrefix(
                "warning refused an unknown host; --allow-host makes it known: host=evil.example:81 "
            ))
        #expect(line.hasSuffix(" target=/"))
        #expect(!line.contains("omitted"))
        #expect(lines.entries.count == 1)
    }

    @Test("By default the setting is that of the library")
    func defaultSetting() async throws {
        let handler = HostCheckHandler(Sample.target)
        let answer = try await ask(handler, host: "evil.example")
        #expect(answer.text.contains("; AllowedHosts makes it known"))
        #expect(lines.entries.count == 1)
    }

    @Test("An allowed host is not logged")
    func allowed() async throws {
        #expect(try await ask(handler(), host: "good.example").status == 200)
        #expect(lines.entries.isEmpty)
    }

    @Test(
        "The log has the host as escaped ASCII, truncated to 256 characters",
        arguments: [
            ("a\nb", #"a\nb"#), ("\u{1B}[31m", #"\u{1B}[31m"#), ("\u{7F}\0", #"\u{7F}\0"#),
            ("\u{85}\u{9B}2J", #"\u{0085}\u{009B}2J"#), ("\u{202E}live", #"\u{202E}live"#),
            (#"a\nb""#, #"a\\nb\""#), ("é", #"\u{00E9}"#),
            (String(repeating: "a", count: 256), String(repeating: "a", count: 256)),
            (String(repeating: "a", count: 257), String(repeating: "a", count: 256)),
        ])
    func escaping(_ host: String, _ logged: String) async throws {
        // The parser refuses most of these, but a handler may get a host from another source.
        let given = InterceptingHandler(handler()) { request in
            request[ForwardedOriginKey.self] = ForwardedOrigin(scheme: nil, host: host)
            return nil
        }
        let answer = try await ask(given, host: "a")
        #expect(answer.status == 421)
        #expect(!answer.text.contains(host))
        let line = try #require(lines.entries.first)
        #expect(line.contains("known: host=\(logged) method="), "\(line)")
        #expect(line.unicodeScalars.allSatisfy { 0x20..<0x7F ~= $0.value })
    }

    @Test("Ten lines a minute are logged, and the next one counts those omitted")
    func rate() async throws {
        let handler = handler()
        for count in 1...13 {
            #expect(try await ask(handler, host: "evil\(count).example").status == 421)
            #expect(lines.entries.count == min(count, 10))
        }
        now.withLock { $0 = 59_999_999_999 }
        _ = try await ask(handler, host: "late.example")
        #expect(lines.entries.count == 10)
        now.withLock { $0 = 60_000_000_000 }
        for host in ["next.example", "last.example"] { _ = try await ask(handler, host: host) }
        #expect(lines.entries.count == 12)
        #expect(lines.entries[10].contains("host=next.example method=GET omitted=4 "))
        #expect(!lines.entries[11].contains("omitted"))
    }
}
