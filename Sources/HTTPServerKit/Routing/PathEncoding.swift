internal import HTTPCodecs
internal import HTTPParser

/// Percent-encoding of file names for links.
///
/// RFC 3986, sections 2.1 and 3.3.
package enum PathEncoding {
    /// One path segment, with every byte encoded that is not unreserved, a colon or an at sign.
    ///
    /// Takes bytes because file names need not be UTF-8. Encodes more than it must: `+`, `&` and
    /// quotes mean something to careless readers.
    package static func segment(_ name: [UInt8]) -> String {
        var encoded: [UInt8] = []
        append(name, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends one path segment, encoded in the same way.
    package static func append(_ name: [UInt8], to output: inout [UInt8]) {
        PercentEncoding.encode(name.span, keeping: plainBytes, into: &output)
    }

    /// A path of segments with slashes between them, each segment encoded in the same way.
    package static func path(_ path: [UInt8]) -> String {
        var encoded: [UInt8] = []
        append(path: path, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends a path, encoded in the same way.
    package static func append(path: [UInt8], to output: inout [UInt8]) {
        PercentEncoding.encode(path.span, keeping: plainBytesAndSlash, into: &output)
    }

    private static let plainBytes = PercentEncoding.ByteSet.unreserved.union(.init(":@"))
    private static let plainBytesAndSlash = plainBytes.union(.init("/"))

    /// A link to a member of the folder that the page shows; a folder's ends with a slash.
    ///
    /// A name with a colon gets `./` in front, or it would read as a scheme: `javascript:...`.
    package static func link(to name: [UInt8], isDirectory: Bool) -> String {
        let prefix = name.contains(0x3A) ? "./" : ""
        return prefix + segment(name) + (isDirectory ? "/" : "")
    }
}
