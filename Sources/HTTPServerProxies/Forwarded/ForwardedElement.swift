internal import HTTPParser

/// The facts that one proxy forwarded about the request that it received: an element of Forwarded,
/// or the elements of the X-Forwarded fields at the same position.
package struct ForwardedElement: Hashable, Sendable {
    /// The sender; `nil` if the proxy did not name it.
    package var node: ForwardedNode?
    /// `http` or `https`.
    package var scheme: String?
    /// Host and port, as in the field Host.
    package var host: String?
    /// Whether all values are well-formed and no parameter is repeated.
    package private(set) var isValid = true

    package init() {}

    /// The elements of one line of Forwarded (RFC 7239 section 4).
    /// - Returns: `nil` if the line is not a list of parameters: quotes decide where an element
    ///   ends, so no element of such a line can be trusted. An invalid value invalidates only its
    ///   own element.
    package static func list(_ line: String) -> [ForwardedElement]? {
        let bytes = Array(line.utf8)
        var reader = FieldValueReader(bytes.span)
        var elements: [ForwardedElement] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let element = take(&reader), reader.takeElementEnd() else { return nil }
            elements.append(element)
            reader.skipEmptyElements()
        }
        return elements
    }

    /// forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )
    private static func take(_ reader: inout FieldValueReader) -> ForwardedElement? {
        var element = ForwardedElement()
        var names: Set<String> = []
        repeat {
            guard let token = reader.takeToken() else { continue }
            let name = reader.text(token).lowercased()
            guard reader.take(UInt8(ascii: "=")), let value = reader.takeTokenOrQuotedString()
            else { return nil }
            let isSet = element.set(name, String(decoding: value, as: UTF8.self))
            if !isSet || !names.insert(name).inserted { element.isValid = false }
        } while reader.take(UInt8(ascii: ";"))
        return element
    }

    /// Sets a parameter. Unknown parameters are ignored, and so is `by`, which names the proxy
    /// itself.
    /// - Returns: whether the value is well-formed.
    private mutating func set(_ name: String, _ value: String) -> Bool {
        switch name {
        case "for":
            node = ForwardedNode(value, allowsBareIPv6: false)
            return node != nil
        case "proto":
            scheme = Self.scheme(value)
            return scheme != nil
        case "host":
            host = Self.host(value)
            return host != nil
        default: return true
        }
    }

    /// The schemes of WebSocket, which some proxies name, are mapped to those of the connection
    /// below (RFC 6455 section 3).
    package static func scheme(_ text: String) -> String? {
        // Checks the length first, because comparing a long text in canonical form is slow.
        guard text.utf8.count <= 5 else { return nil }
        return switch text.lowercased() {
        case "http", "ws": "http"
        case "https", "wss": "https"
        default: nil
        }
    }

    package static func host(_ text: String) -> String? {
        // The limit is 255 bytes of a name, a colon and five digits.
        guard text.utf8.count <= 261 else { return nil }
        let isHost = unsafe Array(text.utf8).withUnsafeBytes { unsafe TargetGrammar.isHost($0) }
        return isHost ? text : nil
    }
}
