import HTTPCrypto
import HTTPParser
import HTTPServerCore

/// Digest with auth-int and session keys, which the toolkit's own authentication does not offer but
/// other servers do (RFC 7616 section 3.4).
///
/// Nothing is stored: any nonce is accepted, and the client's count shows when a nonce is used up.
struct BinDigest {
    private static let realm = "httpkit bin"

    private let qualities: [String]
    private let algorithm: DigestHash
    private let isSession: Bool
    /// The number of requests for which a nonce is valid.
    private let uses: Int

    private var algorithmName: String { algorithm.rawValue + (isSession ? "-sess" : "") }

    init(_ request: Request) throws(HTTPError) {
        let quality = request.parameter("qop")
        qualities = ["auth", "auth-int"].contains(quality) ? [quality] : ["auth", "auth-int"]
        let name = request.parameters["algorithm"] ?? "MD5"
        isSession = name.lowercased().hasSuffix("-sess")
        guard
            let algorithm = DigestHash(
                rawValue: String(name.dropLast(isSession ? 5 : 0)).uppercased()),
            algorithm.isAvailable
        else { throw HTTPError(.notFound, "no such algorithm here") }
        self.algorithm = algorithm
        let stale = request.parameters["stale"] ?? "never"
        uses = stale == "never" ? .max : try request.number("stale")
    }

    func answer(_ request: Request) async throws -> Response {
        guard let field = request.fields[.authorization].flatMap({ AuthorizationField($0) }),
            field.scheme == "digest", let proof = field["response"]
        else { return challenge() }
        let content = try await request.body.raw.collect(upTo: BinRouter.contentLimit)
        guard let expected = expectedProof(field, request, content), proof.lowercased() == expected
        else { return challenge() }
        let count = field["nc"].flatMap { Int($0, radix: 16) } ?? 1
        guard count <= uses else { return challenge(isStale: true) }
        return BinRouter.granted(request)
    }

    private func challenge(isStale: Bool = false) -> Response {
        let nonce = Hex.text(of: Crypto.random(16))
        let opaque = Hex.text(of: Crypto.random(16))
        let value =
            "Digest realm=\"\(Self.realm)\", nonce=\"\(nonce)\", "
            + "qop=\"\(qualities.joined(separator: ", "))\", opaque=\"\(opaque)\", "
            + "algorithm=\(algorithmName), stale=\(isStale ? "TRUE" : "FALSE")"
        return Response(
            .unauthorized, fields: [.wwwAuthenticate: value, .setCookie: "fake=fake_value; Path=/"])
    }

    /// The response value that the client must have computed; `nil` if a parameter is missing or
    /// belongs to another request (RFC 7616 sections 3.4.1 to 3.4.3).
    private func expectedProof(
        _ field: AuthorizationField, _ request: Request, _ content: [UInt8]
    ) -> String? {
        guard field["username"] == request.parameter("user"), field["realm"] == Self.realm,
            let nonce = field["nonce"], let uri = field["uri"], uri == request.target.text,
            let quality = field["qop"], qualities.contains(quality),
            let count = field["nc"], count.utf8.count == 8, let cnonce = field["cnonce"],
            (field["algorithm"] ?? "MD5").lowercased() == algorithmName.lowercased()
        else { return nil }
        let password = request.parameter("password")
        var first = algorithm.secret(
            name: request.parameter("user"), realm: Self.realm, password: password)
        if isSession { first = algorithm.hex("\(first):\(nonce):\(cnonce)") }
        var second = "\(request.method.name):\(uri)"
        if quality == "auth-int" { second += ":\(Hex.text(of: algorithm.hash(content)))" }
        return algorithm.hex(
            "\(first):\(nonce):\(count):\(cnonce):\(quality):\(algorithm.hex(second))")
    }
}
