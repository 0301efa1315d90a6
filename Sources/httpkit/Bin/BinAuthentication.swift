import HTTPParser
internal import HTTPServerAuthentication
import HTTPServerCore

/// Authentication. Name and password are in the path, so that a test can choose them.
extension BinRouter {
    mutating func addAuthentication() {
        group("Authentication")
        answer(
            nil, "/basic-auth/:user/:password", "Basic (RFC 7617).",
            example: "/basic-auth/ada/lovelace"
        ) { request in
            guard Self.isLoggedIn(request) else {
                return Response(
                    .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"Fake Realm\""])
            }
            return Self.granted(request)
        }
        answer(
            nil, "/hidden-basic-auth/:user/:password",
            "Basic, with 404 instead of a challenge: a client has to send credentials by itself.",
            example: "/hidden-basic-auth/ada/lovelace"
        ) { request in
            guard Self.isLoggedIn(request) else { throw HTTPError(.notFound) }
            return Self.granted(request)
        }
        for (path, text) in [
            ("/digest-auth/:qop/:user/:password", "Digest (RFC 7616); qop is auth or auth-int."),
            (
                "/digest-auth/:qop/:user/:password/:algorithm",
                "The algorithm is MD5, MD5-sess, SHA-256 or SHA-256-sess."
            ),
            (
                "/digest-auth/:qop/:user/:password/:algorithm/:stale",
                "A nonce is valid for the number of requests in stale."
            ),
        ] {
            let example = text.hasPrefix("Digest") ? "/digest-auth/auth/ada/lovelace" : nil
            wait(nil, path, text, example: example) { request in
                try await BinDigest(request).answer(request)
            }
        }
        answer(nil, "/bearer", "Any token, by Bearer (RFC 6750).") { request in
            guard let field = request.fields[.authorization].flatMap({ AuthorizationField($0) }),
                field.scheme == "bearer", case .token68(let token) = field.content
            else {
                return Response(.unauthorized, fields: [.wwwAuthenticate: "Bearer"])
            }
            return JSONValue.object(["authenticated": .flag(true), "token": .text(token)])
                .response()
        }
    }

    private static func isLoggedIn(_ request: Request) -> Bool {
        guard let field = request.fields[.authorization].flatMap({ AuthorizationField($0) }),
            field.scheme == "basic", case .token68(let token) = field.content,
            let credentials = BasicCredentials(token)
        else { return false }
        return credentials.name == request.parameter("user")
            && credentials.password == request.parameter("password")
    }

    static func granted(_ request: Request) -> Response {
        let user = request.parameter("user")
        return JSONValue.object(["authenticated": .flag(true), "user": .text(user)]).response()
    }
}
