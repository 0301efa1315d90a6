/// The value of a Cookie field.
package struct CookieField: Equatable, Sendable {
    package private(set) var text = ""
    /// The same value as bytes, if a cookie in it is not UTF-8; otherwise `nil`.
    package private(set) var bytes: [UInt8]?

    var isEmpty: Bool { text.isEmpty }

    /// Adds a cookie.
    /// - Returns: false if the value would become longer than `byteLimit`.
    mutating func append(_ cookie: Cookie, upTo byteLimit: Int) -> Bool {
        let pair = cookie.pair
        let glue = isEmpty ? "" : "; "
        let count = bytes?.count ?? text.utf8.count
        let added = cookie.isLatin1 ? pair.unicodeScalars.count : pair.utf8.count
        guard count + glue.utf8.count + added <= byteLimit else { return false }
        if cookie.isLatin1, bytes == nil { bytes = Array(text.utf8) }
        bytes? += Array(glue.utf8) + cookie.pairBytes
        text += glue + pair
        return true
    }
}
