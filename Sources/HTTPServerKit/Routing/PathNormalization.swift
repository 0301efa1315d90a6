/// Paths as texts, brought into one spelling without looking at a disk.
///
/// Do not use it on input from a client: `Request.pathSegments` splits and decodes the path and
/// refuses one that leads out, and `FileHandler` opens files so that no link leads out either.
public enum PathNormalization {
    /// A path without empty segments, without `.`, without a slash at its end, and with `..`
    /// resolved. It never rises above where it begins; a slash at its front stays.
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
