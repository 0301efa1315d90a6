/// An element of a request's content: small, because requests are limited.
package struct XMLElement: Hashable, Sendable {
    package struct Attribute: Hashable, Sendable {
        package var name: XMLName
        package var prefix: String
        package var value: String
    }

    package enum Node: Hashable, Sendable {
        case element(XMLElement)
        case text(String)
    }

    package var name: XMLName
    /// The prefix as it was written; empty if there is none.
    package var prefix = ""
    package var attributes: [Attribute] = []
    /// The prefixes that are declared here, and their namespaces.
    package var declarations: [(prefix: String, namespace: String)] = []
    package var nodes: [Node] = []

    package init(_ name: XMLName) {
        self.name = name
    }

    /// The child elements.
    package var children: [XMLElement] {
        nodes.compactMap { if case .element(let child) = $0 { child } else { nil } }
    }

    /// The first child element with a name.
    package func child(_ name: XMLName) -> XMLElement? {
        for case .element(let child) in nodes where child.name == name { return child }
        return nil
    }

    /// The text of this element and of all elements inside it.
    package var text: String {
        nodes.reduce(into: "") { text, node in
            switch node {
            case .text(let piece): text += piece
            case .element(let child): text += child.text
            }
        }
    }

    package static func == (left: XMLElement, right: XMLElement) -> Bool {
        left.name == right.name && left.attributes == right.attributes && left.nodes == right.nodes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(nodes)
    }
}
