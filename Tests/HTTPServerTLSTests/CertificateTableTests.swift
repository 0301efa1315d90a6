import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("RFC 6125 section 6.4: the certificate for a host name")
struct CertificateTableTests {
    private func table(_ names: [String]...) throws -> CertificateTable {
        let pairs = try names.map { try MadeCertificate($0[0], names: $0).pair }
        return try CertificateTable(
            TLSConfiguration(certificates: pairs), keys: TicketKeys(now: 0))
    }

    @Test(
        "The exact name takes precedence over a wildcard of one label",
        arguments: [
            ("a.test", "a.test"), ("b.test", "a.test"), ("c.test", "*.test"), ("C.TEST", "*.test"),
            ("A.Test", "a.test"), ("a.test.", "a.test"), ("x.deep.test", "*.deep.test"),
            ("x.y.deep.test", nil), ("x.a.test", nil), ("test", nil), (".test", nil), ("", nil),
            (".", nil), ("..", nil), ("*.test", "*.test"), ("unknown.example", nil),
        ])
    func choice(_ name: String, _ found: String?) throws {
        let table = try table(["a.test", "b.test"], ["*.test"], ["*.deep.test"])
        #expect(table.context(for: name)?.names.first == found)
        #expect(table.first.names == ["a.test", "b.test"])
    }

    @Test("Of two certificates with the same name, the first is used")
    func twice() throws {
        let table = try table(["a.test", "one.test"], ["a.test", "two.test"])
        #expect(table.context(for: "a.test") === table.first)
    }

    @Test("A name of more than 255 bytes has no certificate", arguments: [254, 255, 256, 100_000])
    func length(_ count: Int) throws {
        let name = String(repeating: "x", count: count - 5) + ".test"
        #expect((try table(["*.test"]).context(for: name) != nil) == (count <= 255))
    }

    @Test(
        "Clients get the certificate of the requested name, or else the first one",
        arguments: [0x0303, 0x0304])
    func handshake(_ version: CInt) throws {
        let certificates = [
            try MadeCertificate("one", names: ["one.test"]).pair,
            try MadeCertificate("two", names: ["two.test"]).pair,
            try MadeCertificate("wild", names: ["*.wild.test"]).pair,
        ]
        let context = try TLSContext(TLSConfiguration(certificates: certificates))
        for (name, expected) in [
            ("one.test", "one"), ("TWO.test", "two"), ("x.wild.test", "wild"), ("else", "one"),
            (nil, "one"),
        ] as [(String?, String)] {
            let pair = TLSPair(context, TLSClient(version: version, name: name))
            try pair.shakeHands()
            #expect(pair.client.serverName == expected, "\(name ?? "none")")
            #expect(pair.owner.facts.security?.value.serverName == name)
        }
    }
}
