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

    /// Whether both are of the same characters.
    public static func == (left: DeadProperty, right: DeadProperty) -> Bool {
        left.name == right.name && left.xml.hasSameBytes(as: right.xml)
    }

    /// Hashes the bytes of name and element.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        xml.hashBytes(into: &hasher)
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
    /// Applies changes in their order, however many there are.
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
