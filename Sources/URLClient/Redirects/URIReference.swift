internal import HTTPCodecs
internal import HTTPParser

/// A reference to a resource, absolute or relative, in its five parts, each as written.
///
/// Foundation's `URL` does not always resolve references as RFC 3986 requires, and not equally on
/// all systems. Location decides where credentials are sent, so it is resolved here.
///
/// RFC 3986, sections 4.1 and 5.
package struct URIReference: Hashable, Sendable {
    /// In upper or lower case, as written; `nil` in a relative reference.
    package var scheme: String?
    /// The part after `//`: user information, host and port.
    package var authority: String?
    package var path: String
    /// Without its question mark.
    package var query: String?
    /// Without its number sign.
    package var fragment: String?

    package init(
        scheme: String? = nil, authority: String? = nil, path: String = "", query: String? = nil,
        fragment: String? = nil
    ) {
        (self.scheme, self.authority, self.path) = (scheme, authority, path)
        (self.query, self.fragment) = (query, fragment)
    }

    /// Parses a text by the rules of appendix B, which accept every text. If the text before a
    /// colon is no scheme by its grammar (section 3.1), the colon is part of the path.
    package init(_ text: String) {
        var rest = text[...]
        (rest, fragment) = Self.cut(rest, at: "#")
        (rest, query) = Self.cut(rest, at: "?")
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")),
            Self.isScheme(rest[..<colon])
        {
            scheme = String(rest[..<colon])
            rest = rest[rest.utf8.index(after: colon)...]
        } else {
            scheme = nil
        }
        if rest.utf8.starts(with: "//".utf8) {
            let start = rest.utf8.index(rest.startIndex, offsetBy: 2)
            let end = rest[start...].utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(rest[start..<end])
            rest = rest[end...]
        } else {
            authority = nil
        }
        path = String(rest)
    }

    private static func cut(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, String?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], String(text[text.utf8.index(after: index)...]))
    }

    /// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, ByteClass.isAlpha(first) else { return false }
        return text.utf8.allSatisfy { byte in
            ByteClass.isAlpha(byte) || ByteClass.isDigit(byte) || byte == UInt8(ascii: "+")
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
    }

    /// The reference as text (section 5.3).
    package var text: String {
        var text = ""
        if let scheme { text += "\(scheme):" }
        if let authority { text += "//\(authority)" }
        text += path
        if let query { text += "?\(query)" }
        if let fragment { text += "#\(fragment)" }
        return text
    }

    /// The target of the reference relative to `base` (section 5.2.2, strict: a scheme that is the
    /// same as the base's still makes the reference absolute).
    package func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil || authority != nil {
            target.scheme = scheme ?? base.scheme
            target.path = Self.removingDotSegments(path)
            return target
        }
        (target.scheme, target.authority) = (base.scheme, base.authority)
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            target.path = Self.removingDotSegments(path)
        } else {
            target.path = Self.removingDotSegments(base.merged(with: path))
        }
        return target
    }

    /// A relative path that replaces the last segment of the base (section 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/\(relative)" }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[...slash] + relative
    }

    /// Removes `.` and `..` from a path (section 5.2.4). At the root, `..` has no effect.
    package static func removingDotSegments(_ path: String) -> String {
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        var segments = path.utf8.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if isRooted { segments.removeFirst() }
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch Substring(segment) {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            case let other: kept.append(other)
            }
        }
        return (isRooted ? "/" : "") + kept.joined(separator: "/")
    }
}

extension URIReference {
    /// The target of a field such as Location, relative to the URL of the request.
    ///
    /// Servers send invalid characters in such fields. As in browsers, spaces and characters beyond
    /// ASCII are percent-encoded, and hosts are translated to ASCII. `nil` for control characters,
    /// and for spaces or backslashes in the authority, where they are dangerous.
    ///
    /// RFC 9110, section 10.2.2.
    package init?(field value: String, base: String) {
        guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
        var reference = URIReference(value)
        if let authority = reference.authority {
            guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
            else { return nil }
            // A host beyond ASCII is translated to its ASCII form. With user information it is
            // refused.
            if authority.utf8.contains(where: { $0 >= 0x80 }) {
                guard let wire = try? WireURL("http://\(authority)/"), wire.userInfo == nil else {
                    return nil
                }
                let port = authority.utf8.lastIndex(of: UInt8(ascii: ":"))
                reference.authority = wire.origin.host + (port.map { authority[$0...] } ?? "")
            }
        }
        reference.path = Self.encoded(reference.path, keeping: .path)
        reference.query = reference.query.map { Self.encoded($0, keeping: .query) }
        reference.fragment = reference.fragment.map { Self.encoded($0, keeping: .query) }
        self = reference.resolved(against: URIReference(base))
    }

    /// Percent-encodes all bytes outside of a set, and percent signs that begin no triplet.
    private static func encoded(_ text: String, keeping kept: PercentEncoding.ByteSet) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isTriplet =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count
                && ByteClass.hexValue(bytes[index + 1]) != nil
                && ByteClass.hexValue(bytes[index + 2]) != nil
            if isTriplet || kept.contains(byte) {
                output.append(byte)
            } else {
                output += Array(PercentEncoding.encode(bytes: [byte]).utf8)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }
}
