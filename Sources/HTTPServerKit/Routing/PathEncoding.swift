internal import HTTPCodecs
internal import HTTPParser

/// Percent-encoding of file names for links.
///
/// RFC 3986, sections 2.1 and 3.3.
package enum PathEncoding {
    /// One path segment, in which every byte is encoded except unreserved ones, colons and at
    /// signs.
    ///
    /// Takes bytes because file names need not be UTF-8. Encodes more than the RFC requires: some
    /// parsers misread `+`, `&` and quotes.
    package static func segment(_ name: [UInt8]) -> String {
        var encoded: [UInt8] = []
        append(name, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends one path segment, encoded like ``segment(_:)``.
    package static func append(_ name: [UInt8], to output: inout [UInt8]) {
        PercentEncoding.encode(name.span, keeping: plainBytes, into: &output)
    }

    /// A path, encoded like ``segment(_:)`` apart from its slashes, which stay.
    package static func path(_ path: [UInt8]) -> String {
        var encoded: [UInt8] = []
        append(path: path, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Appends a path, encoded like ``path(_:)``.
    package static func append(path: [UInt8], to output: inout [UInt8]) {
        PercentEncoding.encode(path.span, keeping: plainBytesAndSlash, into: &output)
    }

    private static let plainBytes = PercentEncoding.ByteSet.unreserved.union(.init(":@"))
    private static let plainBytesAndSlash = plainBytes.union(.init("/"))

    /// A relative link to a member of the current folder. A link to a folder ends with a slash.
    ///
    /// A name with a colon gets the prefix `./`, because browsers would otherwise take its
    /// beginning for a scheme, such as `javascript:`.
    package static func link(to name: [UInt8], isDirectory: Bool) -> String {
        let prefix = name.contains(0x3A) ? "./" : ""
        return prefix + segment(name) + (isDirectory ? "/" : "")
    }
}
