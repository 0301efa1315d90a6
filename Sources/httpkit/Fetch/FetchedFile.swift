import HTTPCrypto
import HTTPParser
internal import ToolkitSystem
import URLClient

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A file that an earlier call has fetched completely, and the entity tag of its content (RFC 9110
/// section 8.8.3).
///
/// An extended attribute of the file keeps the tag, which is used only if the file has not changed
/// since. URLs are kept as digests, because they may contain secrets.
struct FetchedFile {
    private struct Content: Codable, Equatable {
        /// The digest of the URL of the call, before redirects.
        var request: String
        /// The digest of the URL after redirects.
        var source: String
        var tag: String
        var size: Int64
        /// When the file was last changed, in seconds since 1970 and nanoseconds.
        var modified: [Int64]
    }

    private static let attribute = "user.httpkit.fetched"
    /// Far more than servers' tags need; with a longer attribute the origin counts as unknown.
    private static let attributeLimit = 4_096

    private let content: Content

    /// The file at a path; nil unless this request has fetched it and it has not changed since.
    init?(_ path: String, for request: ClientRequest) {
        guard request.method == .get, !Self.conditions.contains(where: request.fields.contains),
            let file = OpenFile(own: path), let status = try? file.status(),
            let bytes = try? file.attribute(Self.attribute, upTo: Self.attributeLimit),
            let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.request == Self.digest(request.url), content.size == status.size,
            content.modified == Self.modified(status)
        else { return nil }
        self.content = content
    }

    /// A request with one of these fields is sent unchanged.
    private static let conditions: [HTTPFieldName] = [
        .range, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
    ]

    /// The request for content that differs from the file's (RFC 9110 section 13.1.2).
    func conditional(_ request: ClientRequest) -> ClientRequest {
        var request = request
        request.fields[.ifNoneMatch] = content.tag
        return request
    }

    /// Whether a response confirms that the content is unchanged. Its URL must be the same, too,
    /// because a redirect may now lead to another resource with the same tag.
    func isConfirmed(by response: ClientResponse) -> Bool {
        response.status == .notModified && Self.digest(response.url) == content.source
            && response.fields[.eTag] ?? content.tag == content.tag
    }

    /// Notes the origin of a fetched file. Without a strong tag, or on a file system without
    /// attributes, the next call fetches the file again.
    static func note(_ path: String, _ request: ClientRequest, _ response: ClientResponse) {
        guard request.method == .get, !conditions.contains(where: request.fields.contains),
            let tag = response.fields[.eTag], tag.hasPrefix("\""),
            let file = OpenFile(own: path), let status = try? file.status(),
            response.status != .partialContent || wholeLength(response) == status.size
        else { return }
        let content = Content(
            request: digest(request.url), source: digest(response.url), tag: tag,
            size: status.size, modified: modified(status))
        guard let bytes = try? JSONEncoder().encode(content) else { return }
        try? file.setAttribute(attribute, Array(bytes))
    }

    /// The whole length in Content-Range (RFC 9110 section 14.4): a server may send a part without
    /// being asked for one.
    private static func wholeLength(_ response: ClientResponse) -> Int64? {
        response.fields[.contentRange]?.split(separator: "/").last.flatMap { Int64($0) }
    }

    private static func digest(_ url: URL) -> String {
        Hex.text(of: Crypto.sha256(Array(url.absoluteString.utf8)))
    }

    private static func modified(_ status: FileStatus) -> [Int64] {
        [status.modifiedSeconds, status.modifiedNanoseconds]
    }
}
