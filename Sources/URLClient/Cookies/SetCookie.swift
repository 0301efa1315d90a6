internal import HTTPParser

/// The parsed value of Set-Cookie (RFC 6265bis, section 5.6), before it is checked whether the
/// cookie is allowed.
struct SetCookie: Equatable, Sendable {
    var name: String
    var value: String
    var domain: String?
    var path: String?
    var expires: HTTPDate?
    /// In seconds; zero and negative numbers expire the cookie.
    var maxAge: Int64?
    var isSecure = false
    var isHTTPOnly = false
    var sameSite = Cookie.SameSite.unspecified

    /// The longest name and value together, in bytes.
    static let pairLimit = 4_096
    static let attributeLimit = 1_024
    /// No real cookie has as many attributes, and a field may be long.
    static let attributeCountLimit = 64

    /// Parses a value; `nil` if it must be ignored: it has control characters, neither name nor
    /// value, or is too long.
    init?(_ text: String, now: HTTPDate) {
        // %x00-08 / %x0A-1F / %x7F (section 5.6, step 1).
        guard !text.utf8.contains(where: { ($0 < 0x20 && $0 != 9) || $0 == 0x7F }) else {
            return nil
        }
        let parts = text.utf8.split(
            separator: UInt8(ascii: ";"), maxSplits: Self.attributeCountLimit,
            omittingEmptySubsequences: false)
        let pair = Substring(parts[0])
        if let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")) {
            name = Self.trimmed(pair[..<equals])
            value = Self.trimmed(pair[pair.utf8.index(after: equals)...])
        } else {
            (name, value) = ("", Self.trimmed(pair))
        }
        guard name.utf8.count + value.utf8.count <= Self.pairLimit, !(name + value).isEmpty else {
            return nil
        }
        for part in parts.dropFirst().prefix(Self.attributeCountLimit - 1) {
            let part = Substring(part)
            let equals = part.utf8.firstIndex(of: UInt8(ascii: "="))
            let value = equals.map { Self.trimmed(part[part.utf8.index(after: $0)...]) } ?? ""
            let name = Self.trimmed(part[..<(equals ?? part.endIndex)])
            // No known attribute has a longer name.
            guard value.utf8.count <= Self.attributeLimit, name.utf8.count <= 32 else { continue }
            take(name.lowercased(), value, now)
        }
    }

    /// Takes an attribute. The last one of a name counts.
    private mutating func take(_ attribute: String, _ value: String, _ now: HTTPDate) {
        switch attribute {
        case "expires":
            if let date = CookieDate.parse(value) { expires = date }
        case "max-age":
            if let seconds = Self.seconds(value) { maxAge = seconds }
        case "domain":
            let name = value.utf8.first == UInt8(ascii: ".") ? String(value.dropFirst()) : value
            domain = name.lowercased()
        case "path":
            path = value.utf8.first == UInt8(ascii: "/") ? value : nil
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        case "samesite":
            sameSite =
                switch value.lowercased() {
                case "strict": .strict
                case "lax": .lax
                case "none": .none
                default: .unspecified
                }
        default: break
        }
    }

    /// Digits, possibly after a minus sign. A number that is too large counts as the greatest one
    /// (section 5.6.2).
    private static func seconds(_ text: String) -> Int64? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(ByteClass.isDigit) else { return nil }
        let number = FieldValues.parseDecimal(String(digits)) ?? .max
        return isNegative ? -number : number
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while let first = bytes.first, ByteClass.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, ByteClass.isBlank(last) { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
