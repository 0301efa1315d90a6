public import HTTPParser

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The head of a response, and the fields after its content once they were received.
public struct ClientResponse: Sendable {
    /// The URL that answered: that of the last transaction.
    public var url: URL { parts.values.url }
    /// The status.
    public var status: HTTPStatus { parts.values.status }
    /// The version of HTTP.
    public var version: Version { parts.values.version }
    var head: ResponseFields { parts.values.head }
    /// The interim responses before this one: 103 Early Hints and other 1xx (RFC 9110 section
    /// 15.2).
    public internal(set) var interim: [Interim] {
        get { parts.values.interim }
        set { parts.values.interim = newValue }
    }
    /// The fields after the content (RFC 9110 section 6.5); empty until the content was received.
    public internal(set) var trailers: HTTPFields {
        get { parts.values.trailers }
        set { parts.values.trailers = newValue }
    }
    /// The length of the decoded content in bytes; nil if unknown.
    public internal(set) var expectedLength: Int64? {
        get { parts.values.expectedLength }
        set { parts.values.expectedLength = newValue }
    }
    /// Whether all of the response came from the cache.
    public var isFromCache: Bool {
        get { parts.values.isFromCache }
        set { parts.values.isFromCache = newValue }
    }

    private struct Values: Sendable {
        let url: URL
        let status: HTTPStatus
        let version: Version
        let head: ResponseFields
        var interim: [Interim] = []
        var trailers = HTTPFields()
        var expectedLength: Int64?
        var isFromCache = false
    }

    private var parts: CopyOnWriteBox<Values>

    /// Versions of HTTP.
    public enum Version: String, Sendable, Hashable, CaseIterable {
        /// HTTP/1.0
        case http10 = "HTTP/1.0"
        /// HTTP/1.1
        case http11 = "HTTP/1.1"
        /// HTTP/2
        case http2 = "HTTP/2"
        /// HTTP/3
        case http3 = "HTTP/3"
    }

    /// A response before the final one.
    public struct Interim: Sendable {
        /// The status, 1xx.
        public let status: HTTPStatus
        let head: ResponseFields
        /// The fields.
        public var fields: HTTPFields { head.fields }
    }

    init(
        url: URL, status: HTTPStatus, version: Version, head: ResponseFields,
        interim: [Interim] = [], expectedLength: Int64? = nil
    ) {
        parts = CopyOnWriteBox(
            Values(
                url: url, status: status, version: version, head: head, interim: interim,
                expectedLength: expectedLength))
    }

    /// Creates a response from its parts, to be used in tests and caches.
    public init(
        url: URL, status: HTTPStatus, version: Version = .http11, fields: HTTPFields = HTTPFields()
    ) {
        self.init(url: url, status: status, version: version, head: ResponseFields(fields))
    }

    /// The fields, which are parsed at their first use. A value that is not UTF-8 is read as
    /// Latin-1.
    public var fields: HTTPFields { head.fields }

    /// The reason phrase as it was sent; it means nothing to a machine (RFC 9112 section 4).
    public var reasonPhrase: String { head.reasonPhrase }

    /// The length that Content-Length announces; nil without it, or if it is malformed.
    public var announcedLength: Int64? { head.contentLength }
}
