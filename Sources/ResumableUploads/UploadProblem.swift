internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore

/// A refusal by the upload protocol, not by the handler of the whole content.
struct UploadProblem: Error {
    /// The problem types of the draft (RFC 9457).
    enum Kind: String {
        case offset = "mismatching-upload-offset"
        case completed = "completed-upload"
        case length = "inconsistent-upload-length"
    }

    private struct Details: Encodable {
        var type: String?
        var title: String
        var status: Int
        var expected: Int64?
        var provided: Int64?
        var limit: Int64?

        enum CodingKeys: String, CodingKey {
            case type, title, status, limit
            case expected = "expected-offset"
            case provided = "provided-offset"
        }
    }

    private static let types = "https://iana.org/assignments/http-problem-types#"

    var status: HTTPStatus
    var kind: Kind?
    var title: String
    /// The offset of the upload, if the answer reports it.
    var offset: Int64?
    /// The request's offset, if it differs from the upload's.
    var provided: Int64?
    /// Whether the upload is complete.
    var isComplete = false
    /// The most bytes of an upload, if the upload is larger.
    var limit: Int64?
    var fields = HTTPFields()

    init(_ status: HTTPStatus, _ title: String, kind: Kind? = nil, offset: Int64? = nil) {
        (self.status, self.title, self.kind, self.offset) = (status, title, kind, offset)
        isComplete = kind == .completed
    }

    static var notFound: UploadProblem { UploadProblem(.notFound, "there is no such upload") }

    /// The announced length differs from an earlier announcement, or does not fit the content.
    static func length(_ title: String) -> UploadProblem {
        UploadProblem(.badRequest, title, kind: .length)
    }

    static func mismatch(expected: Int64, provided: Int64) -> UploadProblem {
        var problem = UploadProblem(
            .conflict, "the offset of the request is not the upload's offset", kind: .offset,
            offset: expected)
        problem.provided = provided
        return problem
    }

    func response(_ dialect: UploadDialect) -> Response {
        var response = Response(status, fields: fields)
        let details = Details(
            type: kind.map { Self.types + $0.rawValue }, title: title, status: Int(status.code),
            expected: provided == nil ? nil : offset, provided: provided, limit: limit)
        let bytes = (try? JSONBody().encode(details)) ?? []
        response.body = .bytes(bytes, mediaType: "application/problem+json")
        if let offset { response.fields[.uploadOffset] = "\(offset)" }
        dialect.tell(isComplete: isComplete, in: &response.fields)
        dialect.stamp(&response.fields)
        return response
    }
}
