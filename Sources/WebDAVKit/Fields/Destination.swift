internal import HTTPServerCore
internal import HTTPServerKit

/// The target of COPY and MOVE, and of a tag in an If field: a path on this server (RFC 4918
/// sections 8.3 and 10.3).
///
/// The value may be a path, or a URI with the host of the request. Clients write it without
/// escapes, with a space, a percent sign or a hash sign in it (cadaver does), so all bytes but NUL
/// are taken literally, and so is a percent sign without two hexadecimal digits.
package struct Destination: Hashable, Sendable {
    package enum Fault: Error, Hashable, Sendable {
        /// The value is not a path, or the path leads out of the root: 400.
        case malformed
        /// The value names another server: 502.
        case otherServer
    }

    /// The decoded segments from the root of the server; the last one is empty if the path ends
    /// with a slash.
    package let segments: [[UInt8]]

    /// - Parameters:
    ///   - field: a URI or a path.
    ///   - host: host and port of the request.
    ///   - origins: further origins of this server, such as `https://example.org` of a proxy.
    package init(_ field: String, host: String?, origins: [String] = []) throws(Fault) {
        // Compares bytes: comparing `String`s from a peer has no bound on time.
        let bytes = Array(field.utf8)
        var path = bytes[...]
        if path.first != UInt8(ascii: "/") {
            guard let (origin, rest) = Origin.read(path) else { throw .malformed }
            guard origin.isOfWeb, Self.isOwn(origin, host, origins) else { throw .otherServer }
            path = rest.isEmpty ? [UInt8(ascii: "/")] : rest
        }
        guard let segments = Self.segments(of: path) else { throw .malformed }
        self.segments = segments
    }

    /// The scheme of the client's URI may differ from the server's: a proxy may have terminated
    /// TLS.
    private static func isOwn(_ origin: Origin, _ host: String?, _ origins: [String]) -> Bool {
        if let host, Origin(scheme: origin.scheme, authority: Array(host.utf8)) == origin {
            return true
        }
        return origins.contains { Origin($0) == origin }
    }

    private static func segments(of path: ArraySlice<UInt8>) -> [[UInt8]]? {
        // Bytes that form no escape, and bytes that would end a path, are escaped before the field
        // is parsed as a path.
        var bytes: [UInt8] = []
        let raw = Array(path)
        for (index, byte) in raw.enumerated() {
            switch byte {
            case UInt8(ascii: "#"): bytes += "%23".utf8
            case UInt8(ascii: "?"): bytes += "%3F".utf8
            case UInt8(ascii: "%") where !isEscape(raw, index): bytes += "%25".utf8
            default: bytes.append(byte)
            }
        }
        return unsafe bytes.withUnsafeBytes { unsafe CanonicalPath($0)?.segments }
    }

    private static func isEscape(_ bytes: [UInt8], _ index: Int) -> Bool {
        func isHex(_ index: Int) -> Bool {
            guard index < bytes.count else { return false }
            let byte = bytes[index] | 0x20
            return (bytes[index] >= 0x30 && bytes[index] <= 0x39) || (byte >= 0x61 && byte <= 0x66)
        }
        return isHex(index + 1) && isHex(index + 2)
    }
}

/// Scheme, host and port (RFC 6454 section 4), normalised so that they can be compared.
package struct Origin: Hashable, Sendable {
    package let scheme: [UInt8]
    /// Without the default port of the scheme.
    package let authority: [UInt8]

    /// Whether the scheme is `http` or `https`.
    package var isOfWeb: Bool {
        scheme.elementsEqual("http".utf8) || scheme.elementsEqual("https".utf8)
    }

    package init(scheme: [UInt8], authority: [UInt8]) {
        self.scheme = Self.lowercased(scheme[...])
        var authority = Self.lowercased(authority[...])
        let port = Array((self.scheme.elementsEqual("https".utf8) ? ":443" : ":80").utf8)
        if authority.suffix(port.count) == port[...] { authority.removeLast(port.count) }
        self.authority = authority
    }

    /// - Parameter text: as `https://example.org` or `http://[::1]:8080`, with or without a slash
    ///   at the end.
    /// - Returns: `nil` for anything else.
    package init?(_ text: String) {
        guard let (origin, rest) = Self.read(Array(text.utf8)[...]), origin.isOfWeb,
            rest.isEmpty || rest.elementsEqual("/".utf8), !origin.authority.isEmpty,
            !origin.authority.contains(where: {
                $0 <= 0x20 || $0 >= 0x7F || "@?#\\".utf8.contains($0)
            })
        else { return nil }
        self = origin
    }

    /// The origin at the beginning of a URI, and the rest of the URI; `nil` without an origin.
    static func read(_ uri: ArraySlice<UInt8>) -> (origin: Origin, rest: ArraySlice<UInt8>)? {
        guard let colon = uri.firstIndex(of: UInt8(ascii: ":")),
            uri[colon...].starts(with: "://".utf8)
        else { return nil }
        let rest = uri[(colon + 3)...]
        let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let origin = Origin(scheme: Array(uri[..<colon]), authority: Array(rest[..<slash]))
        return (origin, rest[slash...])
    }

    private static func lowercased(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
    }
}
