internal import HTTPParser

/// An element of `Sec-WebSocket-Extensions`.
///
/// RFC 6455, section 9.1.
struct ExtensionElement: Hashable, Sendable {
    /// The name of the extension.
    var name: String
    /// The parameters, in order.
    var parameters: [Parameter]

    struct Parameter: Hashable, Sendable {
        var name: String
        var value: String?
    }

    /// The elements of a field; nil if it violates the grammar, which fails the handshake.
    static func list(_ values: [String]) -> [ExtensionElement]? {
        let bytes = Array(values.joined(separator: ",").utf8)
        var reader = FieldValueReader(bytes.span)
        var elements: [ExtensionElement] = []
        reader.skipEmptyElements()
        while !reader.isAtEnd {
            guard let element = reader.takeExtension(), reader.takeElementEnd() else { return nil }
            elements.append(element)
            reader.skipEmptyElements()
        }
        return elements
    }
}

extension FieldValueReader {
    fileprivate mutating func takeExtension() -> ExtensionElement? {
        guard let name = takeToken() else { return nil }
        var element = ExtensionElement(name: text(name), parameters: [])
        while true {
            skipWhitespace()
            guard take(UInt8(ascii: ";")) else { return element }
            skipWhitespace()
            guard let parameter = takeExtensionParameter() else { return nil }
            element.parameters.append(parameter)
        }
    }

    /// The value is a token, or a quoted string whose content is a token.
    private mutating func takeExtensionParameter() -> ExtensionElement.Parameter? {
        guard let name = takeToken() else { return nil }
        guard take(UInt8(ascii: "=")) else { return .init(name: text(name)) }
        guard let value = takeTokenOrQuotedString(), FieldValues.isToken(value.span) else {
            return nil
        }
        return .init(name: text(name), value: String(decoding: value, as: UTF8.self))
    }
}
