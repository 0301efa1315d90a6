internal import HTTPCrypto
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import ToolkitSystem

/// Tokens by which a page proves that this handler served it.
///
/// A browser keeps a random number in a cookie that no script and no other site can read. A token
/// consists of its expiry time and an HMAC of the expiry time, the cookie and the user. Only this
/// process knows the key. So a token is valid for one browser, one user and its lifetime, and the
/// server stores nothing.
struct UploaderTokens: Sendable {
    static let field: HTTPFieldName = "X-Upload-Token"

    private let key = Crypto.random(32)
    /// How long a token is valid, in seconds.
    let lifetime: Int64

    /// A separate cookie for each scheme: a browser that has a cookie with `Secure` accepts none of
    /// the same name over plain HTTP (RFC 6265bis, "leave secure cookies alone").
    private static func cookieName(_ request: Request) -> String {
        request.isSecure ? "uploader-tls" : "uploader"
    }

    init(lifetime: Int64) {
        // A century at most, so that the sum with a time does not overflow.
        self.lifetime = min(lifetime, 100 * 366 * 86_400)
    }

    /// A token, and the cookie that it belongs to; no cookie if the browser has it already.
    func token(for request: Request, now: Int64 = UploaderTokens.now()) -> (
        token: String, cookie: String?
    ) {
        let known = Self.cookie(of: request)
        let session = known ?? Hex.text(of: Crypto.random(16))
        let expiry = String(now + lifetime, radix: 16)
        let token = expiry + "." + Hex.text(of: mac(session, request, expiry))
        // Without Path, the cookie applies to the page's folder as the browser sees it. The server
        // cannot name this folder, because a proxy may have changed the path.
        let secure = request.isSecure ? "; Secure" : ""
        let cookie = "\(Self.cookieName(request))=\(session); HttpOnly; SameSite=Lax\(secure)"
        return (token, known == nil ? cookie : nil)
    }

    /// Whether a token belongs to the browser and the user of a request, and has not expired.
    func accepts(_ token: String, from request: Request, now: Int64 = UploaderTokens.now()) -> Bool
    {
        guard token.utf8.count <= 128, let session = Self.cookie(of: request) else { return false }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let expiry = Int64(parts[0], radix: 16), expiry > now,
            let proof = Hex.bytes(of: String(parts[1]))
        else { return false }
        return Crypto.areEqual(proof, mac(session, request, String(parts[0])))
    }

    private func mac(_ session: String, _ request: Request, _ expiry: String) -> [UInt8] {
        let user = request.identity.map { "+" + $0.name } ?? "-"
        return Crypto.hmacSHA256(Array("\(session) \(expiry) \(user)".utf8), key: key)
    }

    /// The random number in the browser's cookie; `nil` if it is missing or malformed.
    private static func cookie(of request: Request) -> String? {
        let start = Array("\(cookieName(request))=".utf8)
        for line in request.fields.values(of: .cookie) {
            for pair in line.utf8.split(separator: 0x3B) {
                let text = pair.drop { $0 == 0x20 }
                let value = text.dropFirst(start.count)
                guard text.starts(with: start), value.count == 32,
                    value.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
                else { continue }
                return String(Substring(value))
            }
        }
        return nil
    }

    /// Whether a request comes from a browser, as far as that can be detected: it has fields that
    /// browsers always send with POST, and curl never.
    static func isFromBrowser(_ request: Request) -> Bool {
        let names: [HTTPFieldName] = [.origin, .referer, .cookie, "Sec-Fetch-Site"]
        if names.contains(where: { request.fields.contains($0) }) { return true }
        return request.fields[.userAgent]?.hasPrefix("Mozilla/") ?? false
    }

    static func now() -> Int64 { Syscalls.realtime().seconds }
}
