public import HTTPParser

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The head of an answer, and the fields behind its content once they are there.
public struct ClientResponse: Sendable {
    /// The URL that answered: that of the last transaction.
    public var url: URL { parts.values.url }
    /// The status.
    public var status: HTTPStatus { parts.values.status }
    /// The version that was spoken.
    public var version: Version { parts.values.version }
    var head: ResponseFields { parts.values.head }
    /// Answers before this one: 103 Early Hints and other 1xx (RFC 9110 section 15.2).
    public internal(set) var interim: [Interim] {
        get { parts.values.interim }
        set { parts.values.interim = newValue }
    }
    /// The fields behind the content (RFC 9110 section 6.5); empty until it has come.
    public internal(set) var trailers: HTTPFields {
        get { parts.values.trailers }
        set { parts.values.trailers = newValue }
    }
    /// How many bytes the content will have, content coding taken off; nil if that is not known.
    public internal(set) var expectedLength: Int64? {
        get { parts.values.expectedLength }
        set { parts.values.expectedLength = newValue }
    }
    /// Whether it was taken from the cache, in whole.
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

    /// An answer before the final one.
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

    /// Creates a response from its parts, as tests and caches need it.
    public init(
        url: URL, status: HTTPStatus, version: Version = .http11, fields: HTTPFields = HTTPFields()
    ) {
        self.init(url: url, status: status, version: version, head: ResponseFields(fields))
    }

    /// The fields. A value that is not UTF-8 is read as Latin-1. They are taken from the bytes when
    /// they are first asked for.
    public var fields: HTTPFields { head.fields }

    /// The reason phrase as it was sent; it means nothing to a machine (RFC 9112 section 4).
    public var reasonPhrase: String { head.reasonPhrase }

    /// The length that Content-Length announces; nil without it, or if it is malformed.
    public var announcedLength: Int64? { head.contentLength }
}
