/// A property that a client has set and the server only keeps (RFC 4918 section 4).
public struct DeadProperty: Hashable, Sendable {
    /// Its name.
    public var name: XMLName
    /// The whole element as XML that stands for itself: prefixes as the client wrote them, each
    /// declared that is used, with `xml:lang` where it counted.
    public var xml: String

    /// Creates a property.
    /// - Parameters:
    ///   - name: its name.
    ///   - xml: the element, well-formed, with all of its prefixes declared.
    public init(_ name: XMLName, xml: String) {
        self.name = name
        self.xml = xml
    }
}

/// A change of a dead property.
public enum PropertyChange: Hashable, Sendable {
    /// It gets a value, whether or not it had one.
    case set(DeadProperty)
    /// It goes, whether or not it was there.
    case remove(XMLName)
}

extension [DeadProperty] {
    /// Applies changes in their order.
    mutating func apply(_ changes: [PropertyChange]) {
        for change in changes {
            switch change {
            case .set(let property):
                if let index = firstIndex(where: { $0.name == property.name }) {
                    self[index] = property
                } else {
                    append(property)
                }
            case .remove(let name): removeAll { $0.name == name }
            }
        }
    }
}
