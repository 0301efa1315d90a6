internal import HTTPParser
public import HTTPServerCore

/// The path of a request, in the forms that routes and files use.
extension Request {
    /// The path, percent-decoded as a whole. Use it for display and logs only. To find something by
    /// the path, use `pathSegments`, in which `%2F` is not a separator. A target without a path,
    /// such as `*`, and a path that cannot be decoded stay as they are.
    public var path: String {
        guard let path = unsafe CanonicalPath.path(of: targetBytes) else {
            return target.text
        }
        guard let bytes = unsafe CanonicalPath.decode(path) else { return target.path }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The segments of the path after the mount point, each percent-decoded, `.` and `..` resolved
    /// (RFC 3986 section 5.2.4). A path that ends with a slash has an empty last segment. `nil` if
    /// the target has no path, an escape is ill-formed, a segment contains NUL, or `..` leads above
    /// the root.
    public var pathSegments: [[UInt8]]? {
        guard let all = canonicalPath?.segments, all.count >= mountDepth else { return nil }
        return Array(all[mountDepth...])
    }

    package var canonicalPath: CanonicalPath? {
        unsafe CanonicalPath(targetBytes)
    }

    /// Replaces the path, and keeps the query.
    /// - Parameter path: segments separated by slashes, not percent-encoded. A missing first slash
    ///   is added; of several first slashes one stays.
    public mutating func rewritePath(_ path: String) {
        let segments = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        var text = (isRooted ? segments.dropFirst() : segments[...])
            .reduce(into: "") { $0 += "/" + PathEncoding.segment(Array($1)) }
        // In a relative reference, a path that begins with two slashes would name a host.
        while text.hasPrefix("//") { text.removeFirst() }
        if let query = target.query { text += "?" + query }
        if let target = RequestTarget(text, method: .get) { self.target = target }
    }
}
