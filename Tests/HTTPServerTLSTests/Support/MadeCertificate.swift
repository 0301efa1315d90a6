import CTLSTestShims
import HTTPServerTLS

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A certificate with its key, made for a test.
struct MadeCertificate: Sendable {
    /// PEM.
    var text: String
    /// PEM.
    var keyText: String

    struct Failure: Error {}

    private static let day = 86_400

    /// - Parameters:
    ///   - commonName: the name of its subject.
    ///   - names: its DNS names.
    ///   - days: when it begins and ends, in days from now.
    ///   - rsaBits: the size of an RSA key; 0 for one on P-256.
    init(
        _ commonName: String, names: [String] = [], days: (Int, Int) = (-1, 2), rsaBits: Int = 0,
        mustStaple: Bool = false, isAuthority: Bool = false, passphrase: String? = nil,
        issuer: MadeCertificate? = nil
    ) throws {
        var wanted = unsafe tls_test_certificate()
        unsafe wanted.starts = days.0 * Self.day
        unsafe wanted.ends = days.1 * Self.day
        unsafe wanted.rsa_bits = CInt(rsaBits)
        unsafe wanted.must_staple = mustStaple ? 1 : 0
        unsafe wanted.is_authority = isAuthority ? 1 : 0
        let entries = names.map { "DNS:\($0)" }.joined(separator: ",")
        let texts = CTexts([
            commonName, entries.isEmpty ? nil : entries, passphrase, issuer?.text, issuer?.keyText,
        ])
        unsafe wanted.common_name = unsafe texts[0]
        unsafe wanted.names = unsafe texts[1]
        unsafe wanted.passphrase = unsafe texts[2]
        unsafe wanted.issuer = unsafe texts[3]
        unsafe wanted.issuer_key = unsafe texts[4]
        var certificate: UnsafeMutablePointer<CChar>?
        var key: UnsafeMutablePointer<CChar>?
        let isMade = unsafe tls_test_make(&wanted, &certificate, &key) == 1
        defer {
            unsafe free(certificate)
            unsafe free(key)
        }
        withExtendedLifetime(texts) {}
        guard isMade, let certificate = unsafe certificate, let key = unsafe key else {
            throw Failure()
        }
        unsafe text = String(cString: certificate)
        unsafe keyText = String(cString: key)
    }

    /// The pair as a server takes it.
    var pair: TLSCertificate { TLSCertificate(chain: chain, key: key) }
    var chain: TLSMaterial { .bytes(Array(text.utf8)) }
    var key: TLSMaterial { .bytes(Array(keyText.utf8)) }

    /// One for all tests that do not look at it.
    static let common = Result { try MadeCertificate("a.test", names: ["a.test"]) }
}

/// Copies of texts for C.
@safe
private final class CTexts {
    private let copies: [UnsafeMutablePointer<CChar>?]

    init(_ texts: [String?]) {
        unsafe copies = unsafe texts.map { text in unsafe text.flatMap { unsafe strdup($0) } }
    }

    deinit {
        for index in unsafe copies.indices { unsafe free(copies[index]) }
    }

    subscript(index: Int) -> UnsafePointer<CChar>? { unsafe UnsafePointer(copies[index]) }
}
