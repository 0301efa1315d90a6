import TestSupport
import Testing

@testable import HTTPServerTLS

@Suite("Certificates, keys and settings that cannot be used")
struct TLSErrorTests {
    enum Fault: CaseIterable, Sendable {
        case none, noCertificate, emptyCertificate, keyForCertificate, noKey, encryptedKey, otherKey
        case expired, notYetValid, mustStaple, weakKey, strongRSA, wordsBehind
        case damagedChain, cutChain
    }

    private static let kinds: [Fault: TLSError.Kind] = [
        .noCertificate: .noCertificate, .emptyCertificate: .noCertificate,
        .keyForCertificate: .noCertificate, .noKey: .noKey, .encryptedKey: .encryptedKey,
        .otherKey: .keyDoesNotMatch, .expired: .expired, .notYetValid: .notYetValid,
        .mustStaple: .mustStaple, .weakKey: .weak,
        .damagedChain: .noCertificate, .cutChain: .noCertificate,
    ]

    private func pair(_ fault: Fault) throws -> TLSCertificate {
        let good = try MadeCertificate.common.get()
        let bytes = { (text: String) in TLSMaterial.bytes(Array(text.utf8)) }
        switch fault {
        case .none: return good.pair
        case .noCertificate: return TLSCertificate(chain: bytes("no PEM"), key: good.key)
        case .emptyCertificate: return TLSCertificate(chain: .bytes([]), key: good.key)
        case .keyForCertificate: return TLSCertificate(chain: good.key, key: good.key)
        case .noKey: return TLSCertificate(chain: good.chain, key: good.chain)
        case .encryptedKey: return try MadeCertificate("a", passphrase: "secret").pair
        case .otherKey:
            return TLSCertificate(chain: good.chain, key: try MadeCertificate("b").key)
        case .expired: return try MadeCertificate("a", days: (-2, -1)).pair
        case .notYetValid: return try MadeCertificate("a", days: (1, 2)).pair
        case .mustStaple: return try MadeCertificate("a", mustStaple: true).pair
        case .weakKey: return try MadeCertificate("a", rsaBits: 1_024).pair
        case .strongRSA: return try MadeCertificate("a", rsaBits: 2_048).pair
        case .wordsBehind:
            return TLSCertificate(chain: bytes(good.text + "then some words\n"), key: good.key)
        case .damagedChain:
            let damaged = good.text.replacing("\nM", with: "\n!", maxReplacements: 1)
            return TLSCertificate(chain: bytes(good.text + damaged + good.text), key: good.key)
        case .cutChain:
            return TLSCertificate(
                chain: bytes(good.text + String(good.text.dropLast(40))), key: good.key)
        }
    }

    @Test(
        "Each fault has its kind of error, with a description of one line",
        arguments: Fault.allCases)
    func fault(_ fault: Fault) throws {
        let pair = try pair(fault)
        guard let kind = Self.kinds[fault] else {
            _ = try TLSContext(TLSConfiguration(certificates: [pair]))
            return
        }
        let error = #expect(throws: TLSError.self) {
            try TLSContext(TLSConfiguration(certificates: [pair]))
        }
        #expect(error?.kind == kind)
        #expect(error?.description.contains("\n") == false)
        // The second certificate is checked like the first.
        #expect(throws: TLSError(kind, "")) {
            try TLSContext(
                TLSConfiguration(certificates: [try MadeCertificate.common.get().pair, pair]))
        }
    }

    @Test("A damaged authority among others is refused")
    func damagedAuthority() throws {
        let good = try MadeCertificate.common.get()
        let damaged = good.text.replacing("\nM", with: "\n!", maxReplacements: 1)
        var configuration = TLSConfiguration(certificates: [good.pair])
        let authorities = TLSMaterial.bytes(Array((good.text + damaged + good.text).utf8))
        configuration.clientAuthentication = .required(authorities: authorities)
        #expect(throws: TLSError.self) { try TLSContext(configuration) }
        configuration.clientAuthentication = .required(authorities: good.chain)
        _ = try TLSContext(configuration)
    }

    @Test("The error names the file with the fault")
    func places() throws {
        let folder = try ServerDirectory()
        let good = try MadeCertificate.common.get()
        try folder.write("a.pem", good.text)
        try folder.write("b.key", try MadeCertificate("b").keyText)
        let load = { (chain: String, key: String) in
            let pair = TLSCertificate.files(chain: folder.path(chain), key: folder.path(key))
            _ = try TLSContext(TLSConfiguration(certificates: [pair]))
        }
        #expect(throws: TLSError(.keyDoesNotMatch, folder.path("b.key"))) {
            try load("a.pem", "b.key")
        }
        #expect(throws: TLSError(.noCertificate, folder.path("b.key"))) {
            try load("b.key", "b.key")
        }
        let missing = #expect(throws: TLSError.self) { try load("none", "b.key") }
        #expect(missing?.kind == .file)
        #expect(
            missing?.description
                == "\(folder.path("none")): the file cannot be used: No such file or directory")
    }

    @Test("A configuration without certificates, known ciphers or authorities is refused")
    func settings() throws {
        #expect(throws: TLSError(.noCertificate, "")) {
            try TLSContext(TLSConfiguration(certificates: []))
        }
        #expect(throws: TLSError(.unknownCiphers, "")) {
            try TLSContext.test { $0.ciphers = "NONE-SUCH" }
        }
        #expect(throws: TLSError(.unknownCiphers, "")) {
            try TLSContext.test { $0.cipherSuites = "TLS_NONE_SUCH" }
        }
        for bytes in [[], Array("no PEM".utf8)] {
            #expect(throws: TLSError(.noAuthorities, "")) {
                try TLSContext.test {
                    $0.clientAuthentication = .required(authorities: .bytes(bytes))
                }
            }
        }
    }

    @Test(
        "A file of 4 MiB is read, and a longer one is refused", arguments: [(0, true), (1, false)])
    func fileLimit(_ above: Int, _ isRead: Bool) throws {
        let folder = try ServerDirectory()
        let good = try MadeCertificate.common.get()
        let filler = TLSMaterial.byteLimit - good.text.utf8.count + above
        try folder.write("a.pem", good.text + String(repeating: "\n", count: filler))
        try folder.write("a.key", good.keyText)
        let pair = TLSCertificate.files(chain: folder.path("a.pem"), key: folder.path("a.key"))
        let configuration = TLSConfiguration(certificates: [pair])
        if isRead {
            _ = try TLSContext(configuration)
        } else {
            #expect(throws: TLSError.self) { try TLSContext(configuration) }
        }
    }

    @Test("The expiry of a context is that of the certificate that expires first")
    func expiry() throws {
        let pairs = try [5, 3, 9].map { try MadeCertificate("a", days: (-1, $0)).pair }
        let context = try TLSContext(TLSConfiguration(certificates: pairs))
        let single = try TLSContext(TLSConfiguration(certificates: [pairs[1]]))
        #expect(abs(context.expiry - single.expiry) <= 2)
    }
}
