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
    ///   - days: when it begins and ends, in days from now.
    ///   - seconds: when it ends, in seconds from now, in place of that.
    ///   - rsaBits: the size of an RSA key; 0 for one on P-256.
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

    /// The pair as a server takes it.
    var pair: TLSCertificate { TLSCertificate(chain: chain, key: key) }
    var chain: TLSMaterial { .bytes(Array(text.utf8)) }
    var key: TLSMaterial { .bytes(Array(keyText.utf8)) }

    /// One for all tests that do not look at it.
    static let common = Result { try MadeCertificate("a.test", names: ["a.test"]) }
}

extension TLSClient {
    /// Shows a certificate when it is asked for one.
    func use(_ certificate: MadeCertificate) -> Bool {
        use(certificate.text, key: certificate.keyText)
    }
}
