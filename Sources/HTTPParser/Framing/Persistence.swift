/// Whether a connection outlives a message (RFC 9112 section 9.3).
package enum Persistence {
    /// The steps of section 9.3: `close` ends it, HTTP/1.1 keeps it, HTTP/1.0 only with
    /// `keep-alive`. A transfer coding in HTTP/1.0 makes the framing suspect, so the connection
    /// closes after the message (section 6.1), as it does where the close ends the content.
    package static func isPersistent(
        version: HTTPVersion, fields: FramingFields, framing: BodyFraming
    ) -> Bool {
        if fields.flags.contains(.close) || framing == .untilClose { return false }
        if version >= .http11 { return true }
        return fields.flags.contains(.keepAlive) && !fields.flags.contains(.chunked)
    }
}
