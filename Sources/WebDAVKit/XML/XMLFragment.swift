extension XMLElement {
    /// The element as self-contained text: prefixes as written, each one declared, and the language
    /// that it was written in (RFC 4918 section 4.3).
    ///
    /// - Parameters:
    ///   - scope: the declarations around the element.
    ///   - language: `xml:lang` around the element.
    package func fragment(scope: NamespaceScope, language: String?) -> String {
        var used: Set<ByteText> = []
        collectPrefixes(&used)
        let standing = scope.inside(declarations).declarations(of: used)
        if let language, !attributes.contains(where: { $0.name == Self.language }) {
            var element = self
            element.attributes.append(
                Attribute(name: Self.language, prefix: "xml", value: language))
            return element.written(declaring: standing)
        }
        return written(declaring: standing)
    }

    /// `xml:lang`.
    package static let language = XMLName("lang", in: "http://www.w3.org/XML/1998/namespace")

    private func collectPrefixes(_ used: inout Set<ByteText>) {
        used.insert(ByteText(prefix))
        for attribute in attributes {
            if !attribute.prefix.isEmpty { used.insert(ByteText(attribute.prefix)) }
            Self.collectPrefixes(in: attribute.value, &used)
        }
        for node in nodes {
            switch node {
            case .text(let piece): Self.collectPrefixes(in: piece, &used)
            case .element(let child): child.collectPrefixes(&used)
            }
        }
    }

    /// Values may use prefixes, too, as in `xsi:type="xs:string"`: each word before a colon may be
    /// a prefix.
    private static func collectPrefixes(in text: String, _ used: inout Set<ByteText>) {
        var word: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: ":") {
                if !word.isEmpty, word.count <= XMLLimits().nameBytes {
                    used.insert(ByteText(String(decoding: word, as: UTF8.self)))
                }
                word = []
            } else if isNameByte(byte) {
                word.append(byte)
            } else {
                word.removeAll(keepingCapacity: true)
            }
        }
    }

    /// Whether a byte is part of a NameChar (XML 1.0 section 2.3), roughly: all bytes beyond ASCII
    /// count.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A, 0x2D, 0x2E, 0x80...: true
        default: false
        }
    }

    private func written(declaring standing: [(prefix: String, namespace: String)]) -> String {
        var writer = XMLWriter()
        write(to: &writer, declaring: standing)
        return writer.text
    }

    private func write(
        to writer: inout XMLWriter, declaring standing: [(prefix: String, namespace: String)]
    ) {
        let tag = prefix.isEmpty ? name.local : prefix + ":" + name.local
        writer.markup("<" + tag)
        for (prefix, namespace) in standing {
            writer.markup(prefix.isEmpty ? " xmlns=\"" : " xmlns:\(prefix)=\"")
            writer.attribute(namespace)
            writer.markup("\"")
        }
        for attribute in attributes {
            let prefix = attribute.prefix.isEmpty ? "" : attribute.prefix + ":"
            writer.markup(" \(prefix)\(attribute.name.local)=\"")
            writer.attribute(attribute.value)
            writer.markup("\"")
        }
        guard !nodes.isEmpty else {
            writer.markup("/>")
            return
        }
        writer.markup(">")
        for node in nodes {
            switch node {
            case .text(let text): writer.text(text)
            case .element(let child): child.write(to: &writer, declaring: child.declarations)
            }
        }
        writer.markup("</\(tag)>")
    }
}
