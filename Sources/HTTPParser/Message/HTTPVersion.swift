/// The version of a message in the HTTP/1 family (RFC 9112 section 2.3).
///
/// `HTTP/1.1` and any later minor version behave alike; `HTTP/1.0` has no persistent connections
/// by default and no chunked coding.
public struct HTTPVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The minor version, 0 to 9; the major version is always 1.
    public let minor: UInt8

    @inlinable
    package init(minor: UInt8) {
        self.minor = minor
    }

    /// HTTP/1.0 (RFC 1945).
    public static var http10: Self { Self(minor: 0) }
    /// HTTP/1.1 (RFC 9112).
    public static var http11: Self { Self(minor: 1) }

    /// Orders versions by their minor number.
    public static func < (left: Self, right: Self) -> Bool { left.minor < right.minor }

    /// The version as written on the wire, such as `HTTP/1.1`.
    public var description: String { "HTTP/1.\(minor)" }
}
