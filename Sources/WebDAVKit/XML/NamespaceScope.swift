/// The prefixes that are declared by the ancestors of an element, and their namespaces.
///
/// The prefixes of each ancestor are hashed once, not once for each element inside: a client may
/// declare a hundred kilobytes of prefixes around thousands of elements.
package struct NamespaceScope: Sendable {
    private struct Declaration: Sendable {
        var place: Int
        var prefix: String
        var namespace: String
    }

    /// The declarations of each ancestor, the outermost first.
    private var levels: [[ByteText: Declaration]] = []
    private var count = 0

    /// - Parameter declarations: the declarations of the outermost element.
    package init(_ declarations: [(prefix: String, namespace: String)]) {
        add(declarations)
    }

    /// The scope inside of an element with further declarations, which hide the outer ones.
    package func inside(
        _ declarations: [(prefix: String, namespace: String)]
    ) -> NamespaceScope {
        var scope = self
        scope.add(declarations)
        return scope
    }

    private mutating func add(_ declarations: [(prefix: String, namespace: String)]) {
        guard !declarations.isEmpty else { return }
        var level: [ByteText: Declaration] = [:]
        for (prefix, namespace) in declarations {
            level[ByteText(prefix)] = Declaration(
                place: count, prefix: prefix, namespace: namespace)
            count += 1
        }
        levels.append(level)
    }

    /// The declarations of some prefixes, in the order in which they were written. Undeclared
    /// prefixes are left out.
    func declarations(of prefixes: Set<ByteText>) -> [(prefix: String, namespace: String)] {
        var found: [Declaration] = []
        for prefix in prefixes {
            let level = levels.last { $0[prefix] != nil }
            if let declaration = level?[prefix] { found.append(declaration) }
        }
        return found.sorted { $0.place < $1.place }.map { ($0.prefix, $0.namespace) }
    }
}
