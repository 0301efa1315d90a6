import HTTPParser
import URLClient

/// URLs as users type them.
enum FetchAddress {
    /// The URL, with `http://` added if it has no scheme, as in curl.
    static func completed(_ text: String) -> String {
        guard let end = text.firstRange(of: "://")?.lowerBound, isScheme(text[..<end]) else {
            return "http://" + text
        }
        return text
    }

    /// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ) (RFC 3986 section 3.1)
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
    }

    /// The origin of a URL; for a WebSocket the origin of the handshake (RFC 6455 section 3).
    static func origin(of url: String) -> Origin? {
        let url = WebSocketConsole.takes(url) ? "http" + url.dropFirst(2) : url
        return ClientRequest(.get, url).origin
    }

    /// The last segment of the path, which is the file name for `-O`; `nil` if it cannot name a
    /// file. It is not decoded, because a decoded slash or control character would lead elsewhere.
    static func fileName(of url: String) -> String? {
        let url = completed(url)
        guard let start = url.firstRange(of: "://")?.upperBound else { return nil }
        let path = url[start...].prefix { $0 != "?" && $0 != "#" }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count > 1, let last = segments.last, !last.isEmpty, last != ".",
            last != "..", !last.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        return String(last)
    }
}
