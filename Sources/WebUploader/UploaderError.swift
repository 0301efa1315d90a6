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
        /// The token is missing, expired, or another user's.
        case token
        /// A page of another site has sent it.
        case origin
        /// The role of the user does not allow it.
        case role
        /// The program does not allow it.
        case refused
        /// A path or a name cannot be one.
        case path
        /// A name begins with a dot.
        case hidden
        /// The extension is not one of those that are allowed.
        case fileType = "extension"
        /// Something has the name already.
        case exists
        /// A lock of a WebDAV client is in the way.
        case locked
        /// A field of the request is missing, or too late.
        case field
        /// The content is not that of which the client has sent a hash.
        case digest
        /// Files of that type are not shown.
        case preview
        /// The user, or the store, has as much as may be.
        case quota
        /// The bin does not have the item, or not any more.
        case undo
    }

    var status: HTTPStatus
    var code: Code?
    var reason: String
    var fields = HTTPFields()
    /// The file that is too long, and the most bytes of one.
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
        // Nothing but the check of the origin has it outside of the site.
        if error.status == .forbidden { code = .origin }
    }

    /// The answer to an error; `nil` when the client is gone and no answer is needed.
    /// - Parameter request: where an error without a status is logged; `nil` for nowhere.
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
