internal import HTTPParser

/// The fields of WebDAV and of its extensions. A literal would be checked at each use.
extension HTTPFieldName {
    static let acceptPatch: HTTPFieldName = "Accept-Patch"
    static let depth: HTTPFieldName = "Depth"
    static let destination: HTTPFieldName = "Destination"
    static let ifHeader: HTTPFieldName = "If"
    static let lockToken: HTTPFieldName = "Lock-Token"
    static let overwrite: HTTPFieldName = "Overwrite"
    static let prefer: HTTPFieldName = "Prefer"
    static let reprDigest: HTTPFieldName = "Repr-Digest"
    static let timeout: HTTPFieldName = "Timeout"
    static let wantReprDigest: HTTPFieldName = "Want-Repr-Digest"
    static let updateRange: HTTPFieldName = "X-Update-Range"

    static let ownCloudChecksum: HTTPFieldName = "OC-Checksum"
    static let ownCloudTime: HTTPFieldName = "X-OC-Mtime"
    /// The length of chunked content; Finder sends it.
    static let expectedLength: HTTPFieldName = "X-Expected-Entity-Length"
}
