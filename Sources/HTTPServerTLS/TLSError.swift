/// The reason why a server cannot use TLS with its configuration.
public struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The configuration has no certificate, or its file contains no readable certificate.
        case noCertificate
        /// The file of the key contains no readable key.
        case noKey
        /// The key is protected by a passphrase.
        case encryptedKey
        /// The key does not belong to the certificate.
        case keyDoesNotMatch
        /// The certificate has expired.
        case expired
        /// The certificate is not valid yet.
        case notYetValid
        /// The certificate requires a stapled OCSP response (RFC 7633), which is not supported.
        case mustStaple
        /// The key or the signature is too weak for OpenSSL's security level.
        case weak
        /// None of the cipher names is known.
        case unknownCiphers
        /// The file of the authorities for client certificates contains no readable certificate.
        case noAuthorities
        /// A file cannot be read or written.
        case file
        /// The system's library for TLS failed.
        case library
    }

    /// The kind of error.
    public var kind: Kind
    /// The path of the file with the error, or another place; may be empty.
    public var place: String
    /// The reason from the system or the library; may be empty.
    public var reason: String

    package init(_ kind: Kind, _ place: String, _ reason: String = "") {
        self.kind = kind
        self.place = place
        self.reason = reason
    }

    /// The place and the error, in one line.
    public var description: String {
        let text =
            switch kind {
            case .noCertificate: "expected a certificate in PEM form, found none"
            case .noKey: "expected a private key in PEM form, found none"
            case .encryptedKey: "the key has a passphrase; store it without one"
            case .keyDoesNotMatch: "the key does not belong to the certificate"
            case .expired: "the certificate has expired"
            case .notYetValid: "the certificate is not valid yet"
            case .mustStaple: "the certificate demands OCSP stapling, which is not offered"
            case .weak: "the certificate is too weak: use RSA of 2048 bits, P-256 or more"
            case .unknownCiphers: "expected names of ciphers, found none that is known"
            case .noAuthorities: "expected certificates of authorities in PEM form, found none"
            case .file: "the file cannot be used"
            case .library: "the TLS library failed"
            }
        let detail = reason.isEmpty ? text : "\(text): \(reason)"
        return place.isEmpty ? detail : "\(place): \(detail)"
    }
}
