import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Chains of redirects, and redirects to any URL.
extension BinRouter {
    /// The longest chain; clients give up long before.
    static let redirectLimit = 1000

    mutating func addRedirects() {
        group("Redirects")
        answer(
            [.get], "/redirect/:n", "n redirects, then /get; ?absolute=true for absolute URLs.",
            example: "/redirect/3"
        ) { request in
            let isAbsolute = request.query["absolute"]?.lowercased() == "true"
            return try Self.step(request, isAbsolute ? .absolute : .relative)
        }
        answer(
            [.get], "/relative-redirect/:n", "n redirects, by references without an authority.",
            example: "/relative-redirect/3"
        ) { request in
            try Self.step(request, .relative)
        }
        answer(
            [.get], "/absolute-redirect/:n", "n redirects, by absolute URLs.",
            example: "/absolute-redirect/3"
        ) { request in
            try Self.step(request, .absolute)
        }
        answer(
            nil, "/redirect-to",
            "A redirect to the unchanged url of the query, with status_code or 302.",
            example: "/redirect-to?url=/get&status_code=307"
        ) { request in
            try Self.redirect(request)
        }
    }

    private enum Kind: String {
        case relative, absolute
    }

    private static func step(_ request: Request, _ kind: Kind) throws(HTTPError) -> Response {
        let left = try request.number("n")
        guard (1...redirectLimit).contains(left) else {
            throw HTTPError(.badRequest, "expected 1 to \(redirectLimit) redirects")
        }
        let next = left == 1 ? "/get" : "/\(kind.rawValue)-redirect/\(left - 1)"
        return .redirect(to: kind == .absolute ? base(of: request) + next : next)
    }

    private static func redirect(_ request: Request) throws(HTTPError) -> Response {
        let query = request.query
        guard let location = query["url"] else {
            throw HTTPError(.badRequest, "the query has no url")
        }
        guard !location.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw HTTPError(.badRequest, "the url contains a control character")
        }
        let code = try request.number(inQuery: "status_code") ?? 302
        let status = (300...399).contains(code) ? HTTPStatus(code) : nil
        return .redirect(to: location, status ?? .found)
    }
}
