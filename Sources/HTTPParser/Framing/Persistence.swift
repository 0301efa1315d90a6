/// Whether a connection stays open after a message (RFC 9112 section 9.3).
package enum Persistence {
    /// Applies section 9.3: `close` ends the connection, HTTP/1.1 keeps it open, and HTTP/1.0 keeps
    /// it open only with `keep-alive`. The connection also closes after content that ends with the
    /// connection, and after chunked content in HTTP/1.0, because its framing is suspect (section
    /// 6.1).
    package static func isPersistent(
        version: HTTPVersion, fields: FramingFields, framing: BodyFraming
    ) -> Bool {
        if fields.flags.contains(.close) || framing == .untilClose { return false }
        if version >= .http11 { return true }
        return fields.flags.contains(.keepAlive) && !fields.flags.contains(.chunked)
    }
}
