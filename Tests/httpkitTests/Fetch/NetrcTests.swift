import Foundation
import TestSupport
import Testing

@testable import httpkit

@Suite("netrc(5): users of hosts")
struct NetrcTests {
    private static let text = """
        # users
        machine a.example login ann password one
        machine B.example
            login bob
            password "two \\"words\\" \\\\ \\t"
        macdef init
        machine hidden.example login x password y

        machine a.example login amy password three account ignored
        machine ::1 login six password seven
        machine bare.example password only
        default login guest password guest@
        machine late.example login never password seen
        """

    @Test(
        "The first entry for the host, or for the host and the name, or the default is used",
        arguments: [
            ("a.example", nil, "ann", "one"), ("A.Example", nil, "ann", "one"),
            ("a.example", "amy", "amy", "three"), ("b.example", nil, "bob", "two \"words\" \\ \t"),
            ("::1", nil, "six", "seven"), ("bare.example", "me", "me", "only"),
            ("other.example", nil, "guest", "guest@"), ("hidden.example", nil, "guest", "guest@"),
            ("late.example", nil, "guest", "guest@"), ("bare.example", nil, "guest", "guest@"),
        ])
    func users(_ host: String, _ login: String?, _ name: String, _ password: String) throws {
        let user = try #require(try Netrc(Self.text).user(of: host, named: login))
        #expect(user.name == name && user.password == password)
    }

    @Test("A host or a name without an entry has no user")
    func noEntry() throws {
        let text = "machine a.example login ann password one\n"
        #expect(try Netrc(text).user(of: "b.example") == nil)
        #expect(try Netrc(text).user(of: "aa.example") == nil)
        #expect(try Netrc(text).user(of: "a.example", named: "bob") == nil)
        #expect(try Netrc("").user(of: "a.example") == nil)
        #expect(try Netrc("# machine a.example login x\n").user(of: "a.example") == nil)
    }

    @Test(
        "Invalid texts are refused",
        arguments: [
            "machine", "machine a login", "login x", "password y machine a", "machine a user x",
            "machine a login \"x", "x",
        ])
    func faults(_ text: String) {
        #expect(throws: Netrc.Fault.self) { try Netrc(text) }
    }

    @Test("No truncated file makes the parser trap")
    func cut() {
        for end in Self.text.indices { _ = try? Netrc(String(Self.text[..<end])) }
    }

    @Test("A missing file has no users; a folder, invalid UTF-8 and more than 1 MiB are faults")
    func files() throws {
        let directory = try ServerDirectory()
        #expect(try Netrc(file: directory.path("none")).entries.isEmpty)
        #expect(throws: Netrc.Fault.self) { try Netrc(file: directory.path) }
        try directory.write("bytes", [0xFF])
        #expect(throws: Netrc.Fault.self) { try Netrc(file: directory.path("bytes")) }
        try directory.write("limit", [UInt8](repeating: 0x0A, count: 1 << 20))
        #expect(try Netrc(file: directory.path("limit")).entries.isEmpty)
        try directory.write("above", [UInt8](repeating: 0x0A, count: (1 << 20) + 1))
        #expect(throws: Netrc.Fault.self) { try Netrc(file: directory.path("above")) }
    }
}
