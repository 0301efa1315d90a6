internal import HTTPParser
public import HTTPServerCore

/// The path of a request as routes and files see it.
extension Request {
    /// The path, percent-decoded as a whole; for display and logs. To find something by it, use
    /// `pathSegments`, in which `%2F` is not a separator.
    public var path: String {
        guard let path = unsafe CanonicalPath.path(of: targetBytes) else {
            return target.text
        }
        guard let bytes = unsafe CanonicalPath.decode(path) else { return target.path }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The segments of the path behind the mount point, each percent-decoded, `.` and `..`
    /// resolved (RFC 3986 section 5.2.4). `nil` when an escape is ill-formed, a segment holds NUL,
    /// or the path would rise above its root.
    public var pathSegments: [[UInt8]]? {
        guard let all = canonicalPath?.segments, all.count >= mountDepth else { return nil }
        return Array(all[mountDepth...])
    }

    package var canonicalPath: CanonicalPath? {
        unsafe CanonicalPath(targetBytes)
    }

    /// Sets another path, and keeps the query.
    /// - Parameter path: segments after slashes, not percent-encoded. A missing first slash is
    ///   added.
    public mutating func rewritePath(_ path: String) {
        let segments = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        var text = (isRooted ? segments.dropFirst() : segments[...])
            .reduce(into: "") { $0 += "/" + PathEncoding.segment(Array($1)) }
        // A path that begins with two slashes would read as a host where it becomes a reference.
        while text.hasPrefix("//") { text.removeFirst() }
        if let query = target.query { text += "?" + query }
        if let target = RequestTarget(text, method: .get) { self.target = target }
    }
}
