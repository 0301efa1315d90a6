internal import HTTPCodecs
internal import HTTPCrypto
package import HTTPParser

/// The credentials of a Digest request (RFC 7616 section 3.4).
package struct DigestCredentials: Equatable, Sendable {
    /// The claimed user name.
    package enum User: Equatable, Sendable {
        case name(String)
        /// The hash of name and realm, in lower case.
        case hash(String)
    }

    package var user: User
    package var realm: String
    package var nonce: String
    /// The request target that the client has hashed.
    package var uri: String
    package var response: [UInt8]
    package var algorithm: DigestAlgorithm
    package var cnonce: String
    /// The count of requests that the client has sent with this nonce: nc, eight hexadecimal
    /// digits.
    package var countText: String
    package var opaque: String?

    /// The reason why credentials cannot be used.
    package enum Fault: Error, Equatable, Sendable {
        /// A parameter is missing or ill-formed: 400 (section 3.4).
        case malformed
        /// The algorithm or the quality of protection is not supported: 401, so that the client can
        /// choose another.
        case unsupported
    }

    package init(_ field: AuthorizationField) throws(Fault) {
        guard case .parameters = field.content else { throw .malformed }
        let algorithm = try Self.algorithm(field)
        guard let realm = field["realm"], let nonce = field["nonce"], let uri = field["uri"],
            !uri.isEmpty, let cnonce = field["cnonce"], !cnonce.isEmpty, let count = field["nc"],
            count.utf8.count == 8, count.utf8.allSatisfy({ ByteClass.hexValue($0) != nil }),
            let hex = field["response"], hex.utf8.count == algorithm.byteCount * 2,
            let response = Hex.bytes(of: hex)
        else { throw .malformed }
        user = try Self.user(field, algorithm)
        (self.realm, self.nonce, self.uri, self.response) = (realm, nonce, uri, response)
        (self.algorithm, self.cnonce, countText) = (algorithm, cnonce, count)
        opaque = field["opaque"]
    }

    /// The algorithm. `qop=auth` is required: without it the hash would not contain count and
    /// client nonce, as in RFC 2069, and the request could be replayed.
    private static func algorithm(
        _ field: AuthorizationField
    ) throws(Fault) -> DigestAlgorithm {
        guard field["qop"]?.isASCII("auth") == true,
            let algorithm = DigestAlgorithm(name: field["algorithm"] ?? "MD5"),
            algorithm.isAvailable
        else { throw .unsupported }
        return algorithm
    }

    /// The user, from exactly one of `username` and `username*`. The latter is for text that is not
    /// ASCII, and never for a hash (section 3.4.4).
    private static func user(
        _ field: AuthorizationField, _ algorithm: DigestAlgorithm
    ) throws(Fault) -> User {
        let isHashed: Bool
        switch field["userhash"] {
        case nil: isHashed = false
        case let value? where value.isASCII("false"): isHashed = false
        case let value? where value.isASCII("true"): isHashed = true
        default: throw .malformed
        }
        switch (field["username"], field["username*"]) {
        case (let hash?, nil) where isHashed:
            guard hash.utf8.count == algorithm.byteCount * 2 else { throw .malformed }
            return .hash(hash.lowercased())
        case (let name?, nil): return .name(name)
        case (nil, let extended?) where !isHashed:
            guard let value = ExtendedValue(extended) else { throw .malformed }
            return .name(value.text)
        default: throw .malformed
        }
    }

    /// The count as a number, which always fits because it has eight digits.
    package var count: UInt32 { UInt32(countText, radix: 16) ?? 0 }

    /// The hash that proves knowledge of the secret, in the terms of section 3.4.1: H(H(A1) ":"
    /// nonce ":" nc ":" cnonce ":" qop ":" H(A2)), where A2 is method and uri.
    /// - Parameter method: the method that the client sent; HEAD is not replaced by GET.
    package func expectedResponse(_ secret: DigestSecret, method: String) -> [UInt8] {
        proof(secret, a2: "\(method):\(uri)")
    }

    /// The server's proof for the client: the same hash with an empty method (section 3.5).
    package func serverProof(_ secret: DigestSecret) -> String {
        Hex.text(of: proof(secret, a2: ":\(uri)"))
    }

    private func proof(_ secret: DigestSecret, a2: String) -> [UInt8] {
        algorithm.hashing.proof(
            secret: secret.hex, nonce: nonce, count: countText, cnonce: cnonce, a2: a2)
    }

    /// Authentication-Info for the answer (section 3.5).
    package func info(_ secret: DigestSecret) -> String {
        let echo = FieldValues.quoted(cnonce) ?? "\"\""
        return "qop=auth, rspauth=\"\(serverProof(secret))\", cnonce=\(echo), nc=\(countText)"
    }
}
