extension XMLElement {
    /// The element as text that means the same wherever it stands: prefixes as they were written,
    /// each declared that is used, and the language that it was written in (RFC 4918 section 4.3).
    ///
    /// - Parameters:
    ///   - scope: the declarations around the element, the outer ones first.
    ///   - language: `xml:lang` around the element.
    package func fragment(scope: [(prefix: String, namespace: String)], language: String?) -> String
    {
        var used: Set<String> = []
        var text = ""
        collectPrefixes(&used, &text)
        var standing: [(prefix: String, namespace: String)] = []
        var seen: Set<String> = []
        // The inner ones hide the outer ones.
        for declaration in (scope + declarations).reversed()
        where seen.insert(declaration.prefix).inserted {
            standing.append(declaration)
        }
        standing.reverse()
        // Values may name prefixes, too, as `xsi:type="xs:string"` does.
        standing.removeAll { declaration in
            !used.contains(declaration.prefix)
                && (declaration.prefix.isEmpty || !text.contains(declaration.prefix + ":"))
        }
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

    private func collectPrefixes(_ used: inout Set<String>, _ text: inout String) {
        used.insert(prefix)
        for attribute in attributes {
            if !attribute.prefix.isEmpty { used.insert(attribute.prefix) }
            text += attribute.value + " "
        }
        for node in nodes {
            switch node {
            case .text(let piece): text += piece
            case .element(let child): child.collectPrefixes(&used, &text)
            }
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
