import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Answers with a status, or with fields, that the client asks for.
extension BinRouter {
    mutating func addStatuses() {
        group("Statuses and fields")
        answer(
            nil, "/status/:codes",
            "The status, 200 to 999; of a list such as 200:3,503:1 one by chance, with weights.",
            example: "/status/418"
        ) { request in
            try Self.response(status: Self.choice(of: request.parameter("codes")))
        }
        answer(
            [.get, .post], "/response-headers",
            "The fields that the query names; a name that comes twice makes two lines.",
            example: "/response-headers?Server=mine&X-Color=red&X-Color=blue"
        ) { request in
            try Self.responseFields(of: request)
        }
    }

    /// One of several codes, each with a weight after a colon, or 1.
    static func choice(of codes: String) throws(HTTPError) -> HTTPStatus {
        var choices: [(status: HTTPStatus, weight: Double)] = []
        for choice in codes.split(separator: ",", omittingEmptySubsequences: false).prefix(100) {
            let parts = choice.split(separator: ":", maxSplits: 1)
            guard let first = parts.first, let code = FieldValues.parseDecimal(String(first)),
                let status = HTTPStatus(Int(clamping: code)), status.code >= 200,
                let weight = parts.count == 2 ? Double(parts[1]) : 1, weight >= 0, weight.isFinite
            else {
                throw HTTPError(.badRequest, "a status is a number from 200 to 999")
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
                "message": "None of the media types that the client accepts is at hand.",
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

    /// The answer contains its own fields as JSON, and so its length; the text is generated again
    /// until the length fits.
    static func responseFields(of request: Request) throws(HTTPError) -> Response {
        var response = Response()
        for pair in request.query {
            guard let name = HTTPFieldName(pair.name), !name.decidesFraming,
                !pair.value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else { throw HTTPError(.badRequest, "\(pair.name) cannot be a field here") }
            guard response.fields.count < 100 else {
                throw HTTPError(.badRequest, "at most 100 fields are sent")
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
