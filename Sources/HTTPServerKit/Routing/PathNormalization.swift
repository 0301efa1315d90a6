/// Normalizes paths as text, without access to the file system.
///
/// Do not use it for input from a client. `Request.pathSegments` splits and decodes the path and
/// refuses one that leads above the root, and `FileHandler` also refuses links that lead outside.
public enum PathNormalization {
    /// A path without empty segments, without `.`, without a slash at its end, and with `..`
    /// resolved. A `..` that would lead above the start is dropped; a leading slash stays.
    ///
    /// ```swift
    /// PathNormalization.normalized("/a//b/../c/")   // "/a/c"
    /// PathNormalization.normalized("../a/.")        // "a"
    /// ```
    public static func normalized(_ path: String) -> String {
        // By bytes: a slash with a combining mark after it is another `Character`.
        var segments: [Substring.UTF8View] = []
        for segment in path.utf8.split(separator: UInt8(ascii: "/")) {
            if segment.elementsEqual(".".utf8) { continue }
            if segment.elementsEqual("..".utf8) {
                _ = segments.popLast()
            } else {
                segments.append(segment)
            }
        }
        let joined = segments.map { String(Substring($0)) }.joined(separator: "/")
        return path.utf8.first == UInt8(ascii: "/") ? "/" + joined : joined
    }
}
