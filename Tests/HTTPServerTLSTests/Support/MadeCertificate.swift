import HTTPServerTLS
import TestSupport

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
    ///   - days: when its validity begins and ends, in days from now.
    ///   - seconds: when its validity ends, in seconds from now; replaces the end of `days`.
    ///   - rsaBits: the size of an RSA key; 0 for a key on P-256.
    init(
        _ commonName: String, names: [String] = [], days: (Int, Int) = (-1, 2),
        seconds: Int? = nil, rsaBits: Int32 = 0,
        mustStaple: Bool = false, isAuthority: Bool = false, passphrase: String? = nil,
        issuer: MadeCertificate? = nil
    ) throws {
        var template = CertificateTemplate(commonName: commonName)
        if !names.isEmpty { template.names = names.map { "DNS:\($0)" }.joined(separator: ",") }
        (template.starts, template.ends) = (days.0 * Self.day, seconds ?? days.1 * Self.day)
        template.rsaBits = rsaBits
        template.mustStaple = mustStaple
        template.isAuthority = isAuthority
        template.passphrase = passphrase
        template.issuer = issuer.map { (Array($0.text.utf8), Array($0.keyText.utf8)) }
        guard let made = template.issue() else { throw Failure() }
        text = String(decoding: made.certificate, as: UTF8.self)
        keyText = String(decoding: made.key, as: UTF8.self)
    }

    /// Certificate and key for the configuration of a server.
    var pair: TLSCertificate { TLSCertificate(chain: chain, key: key) }
    var chain: TLSMaterial { .bytes(Array(text.utf8)) }
    var key: TLSMaterial { .bytes(Array(keyText.utf8)) }

    /// A certificate for all tests that do not check it.
    static let common = Result { try MadeCertificate("a.test", names: ["a.test"]) }
}

extension TLSClient {
    /// Sends this certificate if the server requests one.
    func use(_ certificate: MadeCertificate) -> Bool {
        use(certificate.text, key: certificate.keyText)
    }
}
