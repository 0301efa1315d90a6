internal import HTTPCodecs
internal import HTTPParser
internal import HTTPServerCore
internal import HTTPServerKit
internal import Logging
internal import WebDAVKit

/// The reason why a request is refused: a status, and a code that programs can check.
struct UploaderError: Error {
    /// The member `code` of the problem.
    enum Code: String {
        /// The token is missing or expired, or belongs to another user or browser.
        case token
        /// A page of another site has sent the request.
        case origin
        /// The role of the user does not allow the operation.
        case role
        /// The program has refused the operation.
        case refused
        /// A path or a name is malformed, or does not suit the operation.
        case path
        /// A name begins with a dot.
        case hidden
        /// The extension is not allowed.
        case fileType = "extension"
        /// The name is taken.
        case exists
        /// A WebDAV client has locked the file or folder.
        case locked
        /// A field of the request is missing, malformed or not allowed.
        case field
        /// The content does not match the hash that the client has sent.
        case digest
        /// Files of this type have no preview.
        case preview
        /// The quota of the user or of the store is exceeded.
        case quota
        /// The item is not, or no longer, in the bin.
        case undo
    }

    var status: HTTPStatus
    var code: Code?
    var reason: String
    var fields = HTTPFields()
    /// The name of a file that is too long, and the limit in bytes.
    var excess: (name: String, limit: Int64)?

    init(_ status: HTTPStatus, _ code: Code?, _ reason: String = "") {
        (self.status, self.code, self.reason) = (status, code, reason)
    }

    /// A file has more than `limit` bytes.
    init(tooLong path: ResourcePath, limit: Int64) {
        let name = ListingText.name(path.name)
        self.init(
            .contentTooLarge, nil,
            "\(name) is larger than the limit of \(ListingText.size(limit))")
        excess = (name, limit)
    }

    /// The reason in the language of a page.
    func reason(in texts: PageTexts) -> String {
        guard let excess else { return reason }
        return excess.name + ": "
            + texts["overLimit"].replacing("%", with: ListingText.size(excess.limit))
    }

    init(_ error: HTTPError) {
        self.init(error.status, nil, error.reason)
        fields = error.fields
        // Outside of `UploaderSite`, only the check of the origin answers 403.
        if error.status == .forbidden { code = .origin }
    }

    /// The answer to an error; `nil` when the client is gone and no answer is needed.
    /// - Parameter request: its logger gets an error without a status; with `nil`, none is logged.
    init?(thrown error: any Error, for request: Request?) {
        switch error {
        case let error as UploaderError: self = error
        case let error as HTTPError:
            self.init(error)
            code = nil
        case let error as WebDAVError:
            self.init(error.status, error.status == .locked ? .locked : nil, error.reason)
            if error.condition == .quotaNotExceeded { code = .quota }
            // WebDAV's 405 is about the method; here the error is about the name.
            if status == .methodNotAllowed { (status, code) = (.conflict, .exists) }
        case let error as CodecError: self.init(error.suggestedStatus, nil, error.description)
        case is CancellationError: return nil
        case let error as RequestBodyError:
            guard case .malformed(let fault) = error else { return nil }
            self.init(fault.suggestedStatus, nil, fault.description)
        default:
            request?.logger.error("the upload page failed", metadata: ["error": "\(error)"])
            self.init(.internalServerError, nil)
        }
    }

    private struct Problem: Encodable {
        var title: String
        var status: Int
        var detail: String?
        var code: String?
        /// The most bytes of a file.
        var limit: Int64?
    }

    /// A problem (RFC 9457), or a page if the client prefers one.
    func response(for request: Request) -> Response {
        var response = Response(status, fields: fields)
        if UploaderCall.prefersPage(request) {
            response.body = .bytes(
                PageWriter.errorPage(self, PageTexts(for: request)),
                mediaType: "text/html; charset=utf-8")
            response.fields.append(.contentSecurityPolicy, PageWriter.policy)
        } else {
            let problem = Problem(
                title: status.reasonPhrase, status: Int(status.code),
                detail: reason.isEmpty ? nil : reason, code: code?.rawValue,
                limit: excess?.limit)
            let bytes = try? JSONBody().encode(problem)
            response.body = .bytes(bytes ?? [], mediaType: "application/problem+json")
        }
        response.fields.append(.cacheControl, "no-store")
        response.fields.append(.xContentTypeOptions, "nosniff")
        response.fields.append(.vary, "Accept")
        return response
    }
}
