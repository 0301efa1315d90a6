internal import HTTPCodecs

/// A property that a client has set and the server only stores (RFC 4918 section 4).
public struct DeadProperty: Hashable, Sendable {
    /// The name of the property.
    public var name: XMLName
    /// The whole element as self-contained XML: it has the client's prefixes, declares each prefix
    /// that it uses, and has the `xml:lang` that applied to it.
    public var xml: String

    /// Creates a property.
    /// - Parameters:
    ///   - name: the name of the property.
    ///   - xml: the element, well-formed, with all of its prefixes declared.
    public init(_ name: XMLName, xml: String) {
        self.name = name
        self.xml = xml
    }

    /// Whether both have the same name and the same bytes.
    public static func == (left: DeadProperty, right: DeadProperty) -> Bool {
        left.name == right.name && left.xml.hasBytes(of: right.xml)
    }

    /// Hashes the bytes of name and element.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        xml.hashBytes(into: &hasher)
    }
}

/// A change of a dead property.
public enum PropertyChange: Hashable, Sendable {
    /// Sets a property, whether or not it exists.
    case set(DeadProperty)
    /// Removes a property, if it exists.
    case remove(XMLName)
}

extension [DeadProperty] {
    /// Applies changes in their order. The cost of a change does not depend on the number of
    /// properties.
    mutating func apply(_ changes: [PropertyChange]) {
        var places: [XMLName: Int] = [:]
        for (index, property) in enumerated() { places[property.name] = index }
        var all = map(Optional.some)
        for change in changes {
            switch change {
            case .set(let property):
                if let index = places[property.name] {
                    all[index] = property
                } else {
                    places[property.name] = all.count
                    all.append(property)
                }
            case .remove(let name):
                if let index = places.removeValue(forKey: name) { all[index] = nil }
            }
        }
        self = all.compactMap { $0 }
    }
}
