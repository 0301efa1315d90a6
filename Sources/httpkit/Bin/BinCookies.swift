import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Cookies (RFC 6265).
extension BinRouter {
    mutating func addCookies() {
        group("Cookies")
        answer(nil, "/cookies", "The cookies of the request.") { request in
            var members: [JSONName: JSONValue] = [:]
            for cookie in request.cookies where !cookie.name.isEmpty {
                members[JSONName(cookie.name)] = .text(cookie.value)
            }
            return JSONValue.object(["cookies": .object(members)]).response()
        }
        answer(
            [.get], "/cookies/set", "Sets the cookies of the query, and redirects to /cookies.",
            example: "/cookies/set?color=red&size=9"
        ) { request in
            try Self.setting(request.query.map { ($0.name, $0.value) }, isSet: true)
        }
        answer(
            [.get], "/cookies/set/:name/:value", "Sets one cookie, and redirects to /cookies.",
            example: "/cookies/set/color/red"
        ) { request in
            try Self.setting(
                [(request.parameter("name"), request.parameter("value"))], isSet: true)
        }
        answer(
            [.get], "/cookies/delete", "Deletes the cookies that the query names.",
            example: "/cookies/delete?color"
        ) { request in
            try Self.setting(request.query.map { ($0.name, "") }, isSet: false)
        }
    }

    private static func setting(
        _ cookies: [(name: String, value: String)], isSet: Bool
    ) throws(HTTPError) -> Response {
        var response = Response.redirect(to: "/cookies")
        for (name, value) in cookies.prefix(100) {
            do throws(ResponseCookie.Fault) {
                var cookie =
                    isSet
                    ? try ResponseCookie(name, encoded(value))
                    : try ResponseCookie.removal(of: name)
                (cookie.isHTTPOnly, cookie.sameSite) = (false, nil)
                try response.setCookie(cookie)
            } catch {
                throw HTTPError(.badRequest, "\(name) cannot be the name of a cookie")
            }
        }
        return response
    }

    /// The value, percent-encoded and in quotes if it contains characters that a cookie cannot
    /// have.
    private static func encoded(_ value: String) -> String {
        if (try? ResponseCookie("a", value)) != nil { return value }
        return "\"\(PercentEncoding.encode(value))\""
    }
}
