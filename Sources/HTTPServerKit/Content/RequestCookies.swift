internal import HTTPParser
public import HTTPServerCore

/// The cookies of a request (RFC 6265 section 4.2), in the order of the Cookie fields.
///
/// ```swift
/// let session = request.cookies["session"]
/// for cookie in request.cookies { print(cookie.name, cookie.value) }
/// ```
///
/// Names are compared byte by byte. A browser can send several cookies of the same name, the one
/// with the longest path first. Any of them may have been set by another server of the same site,
/// unless the name begins with `__Host-`.
public struct RequestCookies: Sequence, Sendable {
    /// One cookie of a request.
    public struct Cookie: Hashable, Sendable {
        /// The name; empty for a pair without `=`.
        public var name: String
        /// The value, without the quotes around it.
        public var value: String
    }

    /// All cookies, in the order of the Cookie fields.
    public let all: [Cookie]

    /// - Parameter fields: the values of the Cookie fields.
    init(_ fields: [String]) {
        all = fields.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")).compactMap(Self.cookie) }
    }

    /// The value of the first cookie of a name; `nil` when there is none.
    public subscript(name: String) -> String? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Iterates over the cookies.
    public func makeIterator() -> IndexingIterator<[Cookie]> { all.makeIterator() }

    private static func cookie(_ pair: Substring.UTF8View) -> Cookie? {
        let text = trimmed(pair)
        guard !text.isEmpty else { return nil }
        guard let sign = text.firstIndex(of: UInt8(ascii: "=")) else {
            return Cookie(name: "", value: String(decoding: text, as: UTF8.self))
        }
        let name = trimmed(text[..<sign])
        var value = trimmed(text[text.index(after: sign)...])
        let quote = UInt8(ascii: "\"")
        if value.count >= 2, value.first == quote, value.last == quote {
            value = value.dropFirst().dropLast()
        }
        return Cookie(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: value, as: UTF8.self))
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}

extension Request {
    /// The cookies that the client sent. Each access parses the fields again.
    public var cookies: RequestCookies { RequestCookies(fields.values(of: .cookie)) }
}
