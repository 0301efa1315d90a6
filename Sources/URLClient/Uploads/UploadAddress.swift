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
    /// The URL at which the server keeps what has come of the upload, once it has told one: by an
    /// interim response 104 of the version of the draft that the request names
    /// (draft-ietf-httpbis-resumable-upload). `nil` for others, and for one without TLS where the
    /// request had it.
    public var uploadURL: URL? { shared.withLock { $0.uploadURL } }
}

extension ClientResponse.Interim {
    /// The URL that a 104 names.
    /// - Parameter request: the request that it answers.
    func uploadURL(for request: ClientRequest) -> URL? {
        guard status.code == 104, let location = fields[.location],
            fields[.interopVersion] == request.fields[.interopVersion]
        else { return nil }
        return UploadPlace.url(location, for: request)
    }
}

/// Where uploads are.
enum UploadPlace {
    /// The URL that Location names, if it is one of HTTP, and no less secure than that of the request.
    static func url(_ location: String, for request: ClientRequest) -> URL? {
        guard let url = URL(string: location, relativeTo: request.url)?.absoluteURL,
            let origin = ClientRequest(.head, url.absoluteString).origin,
            origin.isSecure || request.origin?.isSecure == false
        else { return nil }
        return url
    }
}
