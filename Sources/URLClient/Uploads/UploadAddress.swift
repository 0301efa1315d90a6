internal import HTTPCodecs
internal import HTTPParser
internal import ToolkitSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension HTTPFieldName {
    static let uploadComplete: HTTPFieldName = "Upload-Complete"
    static let uploadOffset: HTTPFieldName = "Upload-Offset"
    static let interopVersion: HTTPFieldName = "Upload-Draft-Interop-Version"
}

extension UploadTask {
    /// The URL of the unfinished upload on the server, from an interim response 104 with the draft
    /// version of the request (draft-ietf-httpbis-resumable-upload). `nil` before that response,
    /// and for an http URL if the request used https.
    public var uploadURL: URL? { shared.withLock { $0.uploadURL } }
}

extension ClientResponse.Interim {
    /// The URL in a 104 response; `nil` for other responses, and for a URL that is not accepted.
    /// - Parameter request: the request of this response.
    func uploadURL(for request: ClientRequest) -> URL? {
        guard status.code == 104, let location = fields[.location],
            fields[.interopVersion] == request.fields[.interopVersion]
        else { return nil }
        return UploadPlace.url(location, for: request)
    }
}

/// Checks the URLs of uploads.
enum UploadPlace {
    /// The URL in Location, if it is an http or https URL and not less secure than the request's.
    static func url(_ location: String, for request: ClientRequest) -> URL? {
        guard let url = URL(string: location, relativeTo: request.url)?.absoluteURL,
            let origin = ClientRequest(.head, url.absoluteString).origin,
            origin.isSecure || request.origin?.isSecure == false
        else { return nil }
        return url
    }
}
