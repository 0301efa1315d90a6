internal import HTTPCodecs

/// The name of an element or attribute: a namespace and a local name, without the prefix.
///
/// Namespaces in XML 1.0; RFC 4918, sections 8.2 and 17.
public struct XMLName: Hashable, Sendable, CustomStringConvertible {
    /// The namespace; empty for none.
    public var namespace: String
    /// The name without prefix.
    public var local: String

    /// Creates a name.
    /// - Parameters:
    ///   - local: the name without prefix.
    ///   - namespace: the namespace; empty for none.
    public init(_ local: String, in namespace: String) {
        self.local = local
        self.namespace = namespace
    }

    /// A name in the namespace `DAV:`.
    public static func dav(_ local: String) -> XMLName { XMLName(local, in: "DAV:") }

    /// Whether the namespace is `DAV:`.
    var isDAV: Bool { namespace.hasBytes(of: "DAV:") }

    /// Whether both names have the same characters (Namespaces in XML 1.0 section 2.3).
    public static func == (left: XMLName, right: XMLName) -> Bool {
        left.local.hasBytes(of: right.local)
            && left.namespace.hasBytes(of: right.namespace)
    }

    /// Hashes the bytes of both parts.
    public func hash(into hasher: inout Hasher) {
        namespace.hashBytes(into: &hasher)
        local.hashBytes(into: &hasher)
    }

    /// The namespace in braces, unless it is empty, and the local name.
    public var description: String { namespace.isEmpty ? local : "{\(namespace)}\(local)" }
}
