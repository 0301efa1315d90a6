import TestSupport
import Testing
import ToolkitSystem

@testable import HTTPServerTLS

@Suite("Authorities for development")
struct DevelopmentAuthorityTests {
    private func text(_ material: TLSMaterial) throws -> String {
        String(decoding: try material.read(), as: UTF8.self)
    }

    private func openssl(_ arguments: [String]) async throws -> Program.Result {
        try await Program.run("openssl", arguments)
    }

    @Test("The authority is created once, and loaded later")
    func once() throws {
        let folder = try ServerDirectory()
        let first = try DevelopmentAuthority(folder: folder.path("new"))
        let made = try Syscalls.readFile(first.path, upTo: 1 << 20)
        let second = try DevelopmentAuthority(folder: folder.path("new"))
        #expect(try Syscalls.readFile(second.path, upTo: 1 << 20) == made)
        let suffix = String(decoding: made, as: UTF8.self)
        #expect(try text(try second.certificate(for: ["localhost"]).chain).hasSuffix(suffix))
        try? folder.remove("new/development-ca.pem")
        try? folder.remove("new/development-ca.key")
    }

    @Test("Concurrent callers get the same authority and file; a removed file is written again")
    func together() async throws {
        let folder = try ServerDirectory()
        let chains = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<16 {
                group.addTask {
                    let authority = try DevelopmentAuthority(folder: folder.path("new"))
                    let made = try authority.certificate(for: ["localhost"])
                    try folder.write("\(number).pem", try made.chain.read())
                    return try Syscalls.readFile(authority.path, upTo: 1 << 20)
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(chains.count == 1)
        for number in 0..<16 {
            let result = try await openssl([
                "verify", "-x509_strict", "-CAfile", folder.path("new/development-ca.pem"),
                folder.path("\(number).pem"),
            ])
            #expect(result.status == 0, "\(result.complaints)")
        }
        // A removed certificate is written again.
        try folder.remove("new/development-ca.pem")
        let again = try DevelopmentAuthority(folder: folder.path("new"))
        #expect(chains.contains(try Syscalls.readFile(again.path, upTo: 1 << 20)))
    }

    @Test("A key without its certificate is neither used nor replaced")
    func keyAlone() throws {
        let folder = try ServerDirectory()
        try folder.write("development-ca.key", "words")
        let fault = #expect(throws: TLSError.self) {
            try DevelopmentAuthority(folder: folder.path)
        }
        #expect(fault?.kind == .noCertificate)
        #expect(
            try Syscalls.readFile(folder.path("development-ca.key"), upTo: 10)
                == Array("words".utf8))
    }

    @Test("Only the owner may read its two files, and no other file is left")
    func files() async throws {
        let folder = try ServerDirectory()
        _ = try DevelopmentAuthority(folder: folder.path)
        let list = try await Program.run("ls", ["-lA", folder.path]).text
        let lines = list.split(separator: "\n").filter { !$0.hasPrefix("total") }
        #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("-rw-------") }, "\(list)")
    }

    @Test("Its certificates are valid for their names and addresses, and for 90 days")
    func verification() async throws {
        let folder = try ServerDirectory()
        let authority = try DevelopmentAuthority(folder: folder.path)
        let made = try authority.certificate(for: ["localhost", "a.local", "127.0.0.1", "::1"])
        try folder.write("leaf.pem", try made.chain.read())
        for (flags, isValid) in [
            (["-verify_hostname", "localhost"], true), (["-verify_hostname", "a.local"], true),
            (["-verify_ip", "127.0.0.1"], true), (["-verify_ip", "::1"], true),
            (["-verify_hostname", "b.local"], false), (["-verify_ip", "127.0.0.2"], false),
        ] {
            let result = try await openssl(
                ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", authority.path]
                    + flags + [folder.path("leaf.pem")])
            #expect((result.status == 0) == isValid, "\(flags) \(result.complaints)")
        }
        let day = 86_400
        for (days, isValid) in [(89, true), (91, false)] {
            let result = try await openssl([
                "x509", "-noout", "-checkend", "\(days * day)", "-in", folder.path("leaf.pem"),
            ])
            #expect((result.status == 0) == isValid)
        }
        let context = try TLSContext(TLSConfiguration(certificates: [made]))
        try TLSPair(context, TLSClient(name: "localhost")).shakeHands()
    }

    @Test(
        "Names and addresses get an entry; a name that could be OpenSSL syntax is omitted",
        arguments: [
            ("a.test", "DNS:a.test"), ("127.0.0.1", "IP:127.0.0.1"), ("::1", "IP:::1"),
            ("a,DNS:b", nil), ("a\nb", nil), ("", nil), ("*", nil), ("@section", nil),
            ("a b", nil), ("email:x", nil), ("b\u{fc}cher", nil),
            (String(repeating: "a", count: 254), nil),
        ])
    func entries(_ name: String, _ entry: String?) throws {
        #expect(DevelopmentAuthority.entry(name) == entry)
    }

    @Test("The longest name has 253 bytes")
    func longest() {
        let name = String(repeating: "a", count: 253)
        #expect(DevelopmentAuthority.entry(name) == "DNS:\(name)")
    }

    @Test("A certificate is created even without a usable name", arguments: [[], ["a,b", "*"]])
    func noNames(_ names: [String]) throws {
        let folder = try ServerDirectory()
        let made = try DevelopmentAuthority(folder: folder.path).certificate(for: names)
        _ = try TLSContext(TLSConfiguration(certificates: [made]))
    }

    @Test("Files that are not an authority are refused and kept")
    func broken() throws {
        let folder = try ServerDirectory()
        try folder.write("development-ca.pem", "words")
        try folder.write("development-ca.key", "words")
        let authority = try DevelopmentAuthority(folder: folder.path)
        #expect(throws: TLSError(.library, "development certificate")) {
            try authority.certificate(for: ["localhost"])
        }
        #expect(try Syscalls.readFile(authority.path, upTo: 10) == Array("words".utf8))
        #expect(throws: TLSError.self) {
            try DevelopmentAuthority(folder: folder.path("development-ca.pem"))
        }
    }
}
