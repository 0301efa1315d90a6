import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Answers with the status or the fields that the client requests.
extension BinRouter {
    mutating func addStatuses() {
        group("Statuses and fields")
        answer(
            nil, "/status/:codes",
            "The status, 200 to 999; from a list such as 200:3,503:1, one at random by weight.",
            example: "/status/418"
        ) { request in
            try Self.response(status: Self.choice(of: request.parameter("codes")))
        }
        answer(
            [.get, .post], "/response-headers",
            "The fields in the query. A name that appears twice makes two field lines.",
            example: "/response-headers?Server=mine&X-Color=red&X-Color=blue"
        ) { request in
            try Self.responseFields(of: request)
        }
    }

    /// Chooses one of several codes at random. A code may have a weight after a colon; otherwise
    /// the weight is 1.
    static func choice(of codes: String) throws(HTTPError) -> HTTPStatus {
        var choices: [(status: HTTPStatus, weight: Double)] = []
        for choice in codes.split(separator: ",", omittingEmptySubsequences: false).prefix(100) {
            let parts = choice.split(separator: ":", maxSplits: 1)
            guard let first = parts.first, let code = FieldValues.parseDecimal(String(first)),
                let status = HTTPStatus(Int(clamping: code)), status.code >= 200,
                let weight = parts.count == 2 ? Double(parts[1]) : 1, weight >= 0, weight.isFinite
            else {
                throw HTTPError(
                    .badRequest,
                    "expected a status from 200 to 999, or status:weight with a weight of 0 or more"
                )
            }
            choices.append((status, weight))
        }
        let sum = choices.reduce(0) { $0 + $1.weight }
        guard choices.count > 1, sum > 0, sum.isFinite else {
            return choices.first?.status ?? .badRequest
        }
        var mark = Double.random(in: 0..<sum)
        for choice in choices {
            mark -= choice.weight
            if mark < 0 { return choice.status }
        }
        return choices.last?.status ?? .badRequest
    }

    /// The fields and content that belong to a status.
    static func response(status: HTTPStatus) -> Response {
        var response = Response(status)
        switch status {
        case .movedPermanently, .found, .seeOther, .useProxy, .temporaryRedirect,
            .permanentRedirect:
            response.fields[.location] = "/redirect/1"
        case .unauthorized: response.fields[.wwwAuthenticate] = "Basic realm=\"Fake Realm\""
        case .proxyAuthenticationRequired:
            response.fields[.proxyAuthenticate] = "Basic realm=\"Fake Realm\""
        case .notAcceptable:
            let types = ["image/webp", "image/svg+xml", "image/jpeg", "image/png", "image/*"]
            return JSONValue.object([
                "message": "The server has none of the media types that the client accepts.",
                "accept": .list(types.map { .text($0) }),
            ]).response(status)
        case HTTPStatus(418): response.body = .text(teapot)
        default: break
        }
        return response
    }

    private static let teapot = """
            _
           (_)
          .-'-.   .
         /     \\_/ |   short and stout
         \\      _  /
          '._.-' '-    RFC 2324, RFC 7168

        """

    /// Answers with the fields in the query. The content lists all fields as JSON, including its
    /// own Content-Length, so it is generated again until that length is right.
    static func responseFields(of request: Request) throws(HTTPError) -> Response {
        var response = Response()
        for pair in request.query {
            guard let name = HTTPFieldName(pair.name), !name.decidesFraming else {
                throw HTTPError(
                    .badRequest,
                    "\(pair.name) is not a valid field name, or the server sets that field itself")
            }
            guard
                !pair.value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else {
                throw HTTPError(
                    .badRequest, "the value of \(pair.name) contains a control character")
            }
            guard response.fields.count < 100 else {
                throw HTTPError(.badRequest, "expected at most 100 fields")
            }
            response.fields.append(name, pair.value)
        }
        var content: [UInt8] = []
        while true {
            var pairs = response.fields.map { (JSONName($0.name.text), JSONValue.text($0.value)) }
            if !response.fields.contains(.contentType) {
                pairs.append(("Content-Type", .text("application/json")))
            }
            pairs.append(("Content-Length", .text(String(content.count))))
            let made = JSONValue(grouping: pairs).bytes
            defer { content = made }
            if made.count == content.count { break }
        }
        response.body = .bytes(content, mediaType: "application/json")
        return response
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self = .text(text) }
}
