internal import CTLSShims

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A certificate to issue, with its key. Development certificates use few of the options; tests use
/// the others to issue certificates with faults.
package struct CertificateTemplate {
    /// The common name of the subject.
    package var commonName: String
    /// The subject's alternative names in OpenSSL's syntax, such as `DNS:localhost,IP:127.0.0.1`;
    /// `nil` for none.
    package var names: String?
    /// The begin and the end of the validity, in seconds from now.
    package var starts = 0, ends = 0
    package var isAuthority = false
    /// The issuer's certificate and key, in PEM form; `nil` for a self-signed certificate.
    package var issuer: (certificate: [UInt8], key: [UInt8])?
    /// The size of an RSA key, in bits; 0 for a key on P-256.
    package var rsaBits: Int32 = 0
    /// Whether clients must demand a stapled OCSP response (RFC 7633).
    package var mustStaple = false
    /// The passphrase that encrypts the key; `nil` for none.
    package var passphrase: String?

    package init(commonName: String) {
        self.commonName = commonName
    }

    /// Issues the certificate with a new key, both in PEM form; `nil` if OpenSSL fails.
    package func issue() -> (certificate: [UInt8], key: [UInt8])? {
        var wish = unsafe http_tls_wish()
        unsafe wish.starts = starts
        unsafe wish.ends = ends
        unsafe wish.is_authority = isAuthority ? 1 : 0
        unsafe wish.rsa_bits = rsaBits
        unsafe wish.must_staple = mustStaple ? 1 : 0
        let texts = CTexts([
            commonName, names, issuer.map { String(decoding: $0.certificate, as: UTF8.self) },
            issuer.map { String(decoding: $0.key, as: UTF8.self) }, passphrase,
        ])
        unsafe wish.common_name = unsafe texts[0]
        unsafe wish.names = unsafe texts[1]
        unsafe wish.issuer = unsafe texts[2]
        unsafe wish.issuer_key = unsafe texts[3]
        unsafe wish.passphrase = unsafe texts[4]
        var certificate: UnsafeMutablePointer<CChar>?
        var key: UnsafeMutablePointer<CChar>?
        defer {
            unsafe free(certificate)
            unsafe free(key)
        }
        let isMade = unsafe http_tls_make_certificate(&wish, &certificate, &key) == 1
        withExtendedLifetime(texts) {}
        guard isMade, let certificate = unsafe certificate, let key = unsafe key else { return nil }
        return unsafe (
            Array(String(cString: certificate).utf8), Array(String(cString: key).utf8)
        )
    }
}

/// Copies of texts as C strings.
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
