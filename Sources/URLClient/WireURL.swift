internal import HTTPCodecs
internal import HTTPParser

/// A URL in the parts that a request needs.
///
/// The host decides about cookies, credentials and connections. It is parsed only here, and libcurl
/// gets a URL built from the parts, so that no second parser can find another host.
struct WireURL: Sendable {
    var origin: Origin { parts.origin }
    /// Path and query, never empty.
    var target: String { parts.target }
    /// The user information before the host, still percent-encoded; it is not part of ``text``.
    var userInfo: String? { parts.userInfo }
    /// Scheme, authority, path and query.
    var text: String { parts.text }

    /// A reference, because it is copied with every request.
    private final class Parts: Sendable {
        let origin: Origin
        let target: String
        let userInfo: String?
        let text: String

        init(_ origin: Origin, _ target: String, _ userInfo: String?) {
            self.origin = origin
            self.target = target
            self.userInfo = userInfo
            text = "\(origin.scheme)://\(origin.authority)\(target)"
        }
    }

    private let parts: Parts

    /// Parses a URL.
    /// - Throws: `.badURL`, or `.unsupportedURL` for a scheme other than http and https.
    init(_ url: String) throws(ClientError) {
        var rest = url[...].utf8
        guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else {
            throw ClientError(.unsupportedURL, "no scheme in \(ClientError.shownUnparsed(url))")
        }
        let scheme = String(url[..<colon]).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw ClientError(.unsupportedURL, "the scheme is \(scheme)")
        }
        rest = rest[rest.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { throw Self.fault("no host", in: url) }
        rest = rest.dropFirst(2)
        let authorityEnd = rest.firstIndex { Self.endsAuthority($0) } ?? rest.endIndex
        var authority = rest[..<authorityEnd]
        var userInfo: String?
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            userInfo = String(url[authority.startIndex..<at])
            authority = authority[authority.index(after: at)...]
        }
        let origin = try Self.origin(scheme, authority, in: url)
        let targetEnd = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        let path = url[authorityEnd..<targetEnd]
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.fault("a character that must be percent-encoded", in: url)
        }
        let target = path.utf8.first == UInt8(ascii: "/") ? String(path) : "/\(path)"
        parts = Parts(origin, target, userInfo)
    }

    private static func fault(_ text: String, in url: String) -> ClientError {
        ClientError(.badURL, "\(text) in \(ClientError.shownUnparsed(url))")
    }

    static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Bytes that a mapped name must not contain: a colon would begin a port, and libcurl would
    /// decode a percent-encoded byte and connect to another host than the one that was checked.
    private static func endsName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%") || byte >= 0x80
    }

    private static func origin(
        _ scheme: String, _ authority: Substring.UTF8View.SubSequence, in url: String
    ) throws(ClientError) -> Origin {
        var hostEnd = authority.endIndex
        var host = authority
        var isLiteral = false
        if authority.first == UInt8(ascii: "[") {
            guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else {
                throw fault("no closing bracket", in: url)
            }
            host = authority[authority.index(after: authority.startIndex)..<bracket]
            hostEnd = authority.index(after: bracket)
            isLiteral = true
        } else if let colon = authority.firstIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            hostEnd = colon
        }
        guard !host.isEmpty, host.allSatisfy(isHostByte) else {
            throw fault("no valid host", in: url)
        }
        var name = isLiteral ? String(Substring(host)) : try decoded(host, in: url)
        if name.utf8.contains(where: { $0 >= 0x80 }) {
            // The mapped name must contain no byte that would end a host.
            guard let ascii = InternationalName.ascii(name), ascii.utf8.allSatisfy(isHostByte),
                !ascii.utf8.contains(where: { endsAuthority($0) || endsName($0) })
            else { throw fault("no valid host", in: url) }
            name = ascii
        }
        if !isLiteral { name = try plainAddress(name, in: url) }
        let port = try port(authority[hostEnd...], in: url)
        return Origin(scheme: scheme, host: name, port: port)
    }

    /// The host unchanged, or an IPv4 address as four decimal numbers. libcurl and systems read a
    /// host whose last label is a number as an address, also with fewer numbers and in hexadecimal
    /// or octal. Such a host must not pass for a name.
    private static func plainAddress(_ host: String, in url: String) throws(ClientError) -> String {
        guard CookieJar.isAddress(host.lowercased()) else { return host }
        var labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        var numbers = labels.compactMap(number)
        guard numbers.count == labels.count, numbers.count <= 4, let last = numbers.popLast(),
            numbers.allSatisfy({ $0 < 256 }), last < 1 << (8 * UInt64(4 - numbers.count))
        else { throw fault("no valid address", in: url) }
        let rest = (numbers.count..<4).map { last >> (8 * UInt64(3 - $0)) & 0xFF }
        return (numbers + rest).map(String.init).joined(separator: ".")
    }

    /// A number of an IPv4 address by C's rules: `0x` for hexadecimal, a leading 0 for octal.
    private static func number(_ label: Substring.UTF8View) -> UInt64? {
        guard let first = label.first, ByteClass.isDigit(first) else { return nil }
        let text = String(Substring(label)).lowercased()
        if text.hasPrefix("0x") {
            let digits = text.dropFirst(2)
            guard digits.utf8.allSatisfy({ ByteClass.hexValue($0) != nil }) else { return nil }
            return digits.isEmpty ? 0 : UInt64(digits, radix: 16)
        }
        return UInt64(text, radix: first == UInt8(ascii: "0") ? 8 : 10)
    }

    /// The host without percent-encoding. libcurl would decode it, too, so cookies and credentials
    /// must see the decoded name. Only bytes beyond ASCII may be encoded.
    private static func decoded(
        _ host: Substring.UTF8View.SubSequence, in url: String
    ) throws(ClientError) -> String {
        let text = String(Substring(host))
        guard host.contains(UInt8(ascii: "%")) else { return text }
        guard let name = try? PercentEncoding.decode(text),
            name.utf8.count(where: { $0 < 0x80 }) == plainByteCount(host)
        else { throw fault("no valid host", in: url) }
        return name
    }

    /// How many ASCII bytes are not part of a percent-encoded byte.
    private static func plainByteCount(_ host: Substring.UTF8View.SubSequence) -> Int {
        let encoded = host.count { $0 == UInt8(ascii: "%") } * 3
        return host.count { $0 < 0x80 } - encoded
    }

    /// Whether a byte may occur in a name or address (RFC 3986 section 3.2.2), or in a name that
    /// ``InternationalName`` converts.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00...0x20, 0x7F: false
        case UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""): false
        case UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"): false
        case UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "@"): false
        default: true
        }
    }

    private static func port(
        _ text: Substring.UTF8View.SubSequence, in url: String
    ) throws(ClientError) -> UInt16? {
        guard let colon = text.first else { return nil }
        let digits = text.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw fault("no valid port", in: url)
        }
        guard !digits.isEmpty else { return nil }
        guard let port = UInt16(String(Substring(digits))), port > 0 else {
            throw fault("no valid port", in: url)
        }
        return port
    }
}
