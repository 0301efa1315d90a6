internal import HTTPServerCore

/// Where COPY and MOVE lead, and what the tags of an If field mean: a path on this server (RFC 4918
/// sections 8.3 and 10.3).
///
/// It may be a path or a URI with the host that the request was sent to. Clients write it without
/// escapes, with a space, a percent sign or a hash sign in it (cadaver does), so all bytes but NUL
/// count as themselves, and so does a percent sign without two digits behind it.
package struct Destination: Hashable, Sendable {
    package enum Fault: Error, Hashable, Sendable {
        /// It is no path, or the path leads out: 400.
        case malformed
        /// It is on another server: 502.
        case otherServer
    }

    /// The decoded segments from the root of the server; an empty one last where the path ends
    /// with a slash.
    package let segments: [[UInt8]]

    /// - Parameters:
    ///   - field: a URI or a path.
    ///   - host: Host of the request.
    ///   - origins: further origins as `https://example.org`, by which a proxy is reached.
    package init(_ field: String, host: String?, origins: [String] = []) throws(Fault) {
        var path = field[...]
        if !path.hasPrefix("/") {
            guard let colon = path.firstIndex(of: ":"), path[colon...].hasPrefix("://") else {
                throw .malformed
            }
            let scheme = path[..<colon].lowercased()
            guard scheme == "http" || scheme == "https" else { throw .otherServer }
            let rest = path[path.index(colon, offsetBy: 3)...]
            let slash = rest.firstIndex(of: "/") ?? rest.endIndex
            let authority = String(rest[..<slash])
            guard
                Self.isSame(authority, host, scheme)
                    || origins.contains(where: {
                        $0.lowercased() == "\(scheme)://\(authority)".lowercased()
                    })
            else { throw .otherServer }
            path = slash == rest.endIndex ? "/" : rest[slash...]
        }
        guard let segments = Self.segments(of: path) else { throw .malformed }
        self.segments = segments
    }

    /// Whether both name the same host and port. The scheme of the client's URI need not be ours:
    /// a proxy may have taken TLS off.
    private static func isSame(_ authority: String, _ host: String?, _ scheme: String) -> Bool {
        guard let host else { return false }
        let port = scheme == "https" ? ":443" : ":80"
        func canonical(_ text: String) -> String {
            let text = text.lowercased()
            return text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
        }
        return canonical(authority) == canonical(host)
    }

    private static func segments(of path: Substring) -> [[UInt8]]? {
        // What is no escape, and what would end a path, is escaped before it is read as a path.
        var bytes: [UInt8] = []
        let raw = Array(path.utf8)
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
