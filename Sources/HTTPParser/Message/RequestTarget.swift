/// The request target, in one of the four forms of RFC 9112 section 3.2.
///
/// The text is kept as on the wire, still percent-encoded: decoding before splitting would turn
/// `%2F` into a separator.
public struct RequestTarget: Hashable, Sendable {
    /// The four forms (RFC 9112 sections 3.2.1 to 3.2.4).
    public enum Form: UInt8, Sendable {
        /// `/path?query`.
        case origin
        /// `http://host/path?query`, sent to proxies.
        case absolute
        /// `host:port`, only for CONNECT.
        case authority
        /// `*`, only for OPTIONS.
        case asterisk
    }

    /// The target as on the wire.
    public let text: String
    /// The form of the text.
    public let form: Form

    package init(text: String, form: Form) {
        self.text = text
        self.form = form
    }

    /// Creates a target in the form that `text` has for `method`; `nil` if it has none of the four.
    public init?(_ text: String, method: HTTPMethod = .get) {
        guard text.utf8.allSatisfy(ByteClass.isTarget) else { return nil }
        let form = unsafe Array(text.utf8).withUnsafeBytes {
            unsafe TargetGrammar.form(of: $0, isConnect: method == .connect)
        }
        guard let form, form != .asterisk || method == .options else { return nil }
        self.init(text: text, form: form)
    }

    /// The path, still percent-encoded. `*` for the asterisk form, empty for the authority form;
    /// `/` for an absolute form without a path.
    public var path: String {
        switch form {
        case .asterisk: return text
        case .authority: return ""
        case .origin: return String(text.utf8.prefix { $0 != UInt8(ascii: "?") }) ?? ""
        case .absolute:
            let rest = afterAuthority
            let path = String(rest.prefix { $0 != UInt8(ascii: "?") }) ?? ""
            return path.isEmpty ? "/" : path
        }
    }

    /// The part after the first `?`, still percent-encoded; `nil` without one.
    public var query: String? {
        guard form == .origin || form == .absolute else { return nil }
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(text[text.utf8.index(after: mark)...])
    }

    /// Host and port of the absolute and authority forms; `nil` in the other forms. They take
    /// precedence over the Host field (RFC 9112 section 3.2.2).
    public var authority: String? {
        switch form {
        case .origin, .asterisk: return nil
        case .authority: return text
        case .absolute:
            let start = afterScheme
            return String(text[start.startIndex..<afterAuthority.startIndex])
        }
    }

    private var afterScheme: Substring.UTF8View {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return ""[...].utf8 }
        return text.utf8[colon...].dropFirst(3)
    }

    private var afterAuthority: Substring.UTF8View {
        afterScheme.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    }
}

extension RequestTarget: CustomStringConvertible {
    /// The target as on the wire.
    public var description: String { text }
}

/// The grammar of request targets and of Host (RFC 9112 section 3.2, RFC 3986 section 3.2).
package enum TargetGrammar {
    /// The form of a target of visible characters; `nil` if it has none of the four.
    package static func form(
        of bytes: UnsafeRawBufferPointer, isConnect: Bool
    ) -> RequestTarget.Form? {
        guard let first = unsafe bytes.first else { return nil }
        if isConnect { return unsafe isAuthorityWithPort(bytes) ? .authority : nil }
        if first == UInt8(ascii: "/") { return .origin }
        if first == UInt8(ascii: "*") { return bytes.count == 1 ? .asterisk : nil }
        return unsafe isAbsolute(bytes) ? .absolute : nil
    }

    /// scheme "://" authority path-abempty [ "?" query ], authority not empty.
    private static func isAbsolute(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count, unsafe isScheme(bytes[index], first: index == 0) { index += 1 }
        guard index > 0, index + 3 <= bytes.count,
            unsafe bytes[index] == UInt8(ascii: ":"),
            unsafe bytes[index + 1] == UInt8(ascii: "/"),
            unsafe bytes[index + 2] == UInt8(ascii: "/")
        else { return false }
        let start = index + 3
        var end = start
        while end < bytes.count, unsafe bytes[end] != UInt8(ascii: "/"),
            unsafe bytes[end] != UInt8(ascii: "?")
        {
            end += 1
        }
        return unsafe isHost(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    private static func isScheme(_ byte: UInt8, first: Bool) -> Bool {
        if ByteClass.isAlpha(byte) { return true }
        guard !first else { return false }
        return ByteClass.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// host ":" port, both present (RFC 9112 section 3.2.3).
    private static func isAuthorityWithPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unsafe isHost(bytes), let last = unsafe bytes.last, ByteClass.isDigit(last) else {
            return false
        }
        var index = bytes.count - 1
        while index > 0, unsafe ByteClass.isDigit(bytes[index]) { index -= 1 }
        return unsafe index > 0 && bytes[index] == UInt8(ascii: ":")
    }

    static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var port = 0
        for index in 0..<bytes.count {
            let byte = unsafe bytes[index]
            guard ByteClass.isDigit(byte) else { return false }
            port = port * 10 + Int(byte &- 0x30)
            guard port <= 65_535 else { return false }
        }
        return true
    }
}
