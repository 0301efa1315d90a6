import HTTPCodecs
import HTTPParser
import HTTPServerCore

/// Cookies (RFC 6265).
extension BinRouter {
    mutating func addCookies() {
        group("Cookies")
        answer(nil, "/cookies", "The cookies of the request.") { request in
            var members: [JSONName: JSONValue] = [:]
            for cookie in Self.cookies(of: request) {
                members[JSONName(cookie.name)] = .text(cookie.value)
            }
            return JSONValue.object(["cookies": .object(members)]).response()
        }
        answer(
            [.get], "/cookies/set", "Sets the cookies of the query, and leads to /cookies.",
            example: "/cookies/set?color=red&size=9"
        ) { request in
            try Self.setting(request.query.map { ($0.name, $0.value) }, isSet: true)
        }
        answer(
            [.get], "/cookies/set/:name/:value", "Sets one cookie, and leads to /cookies.",
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

    /// Names and values of Cookie (RFC 6265 section 4.2.1); quotes around a value are left out.
    static func cookies(of request: Request) -> [(name: String, value: String)] {
        // Byte by byte: to compare characters takes long where one has thousands of marks.
        request.fields.values(of: .cookie).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
                guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
                let name = trimmed(pair[..<sign])
                var value = trimmed(pair[pair.index(after: sign)...])
                let quote = UInt8(ascii: "\"")
                if value.count >= 2, value.first == quote, value.last == quote {
                    value = value.dropFirst().dropLast()
                }
                return (
                    String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)
                )
            }
        }
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    private static func setting(
        _ cookies: [(name: String, value: String)], isSet: Bool
    ) throws(HTTPError) -> Response {
        var response = Response.redirect(to: "/cookies")
        for (name, value) in cookies.prefix(100) {
            guard FieldValues.isToken(name) else {
                throw HTTPError(.badRequest, "\(name) cannot be the name of a cookie")
            }
            let end = isSet ? "" : "; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0"
            response.fields.append(.setCookie, "\(name)=\(encoded(value)); Path=/\(end)")
        }
        return response
    }

    /// The value, in quotes if it has something that a cookie has no place for.
    private static func encoded(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
            default: false
            }
        }
        if isPlain { return value }
        return "\"\(PercentEncoding.encode(value, keeping: .path))\""
    }
}
