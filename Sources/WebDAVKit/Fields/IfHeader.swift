package import HTTPParser

/// The If field: lists of conditions, one of which must hold, and the lock tokens that the client
/// submits in it (RFC 4918 section 10.4).
package struct IfHeader: Hashable, Sendable {
    /// One condition of a list.
    package struct Condition: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// A lock with this token covers the resource.
            case token(String)
            /// The resource has this entity tag.
            case tag(EntityTag)
        }

        package var kind: Kind
        package var isNegated = false
    }

    /// Conditions that must all hold.
    package struct List: Hashable, Sendable {
        /// The resource of the conditions, as written; `nil` for the resource of the request.
        package var resource: String?
        package var conditions: [Condition]
    }

    package let lists: [List]

    /// All tokens in the field, also in lists that do not hold and after `Not` (section 10.4.1:
    /// they count as submitted).
    package let tokens: Set<LockToken>

    /// - Returns: `nil` unless the value matches the grammar of section 10.4.2.
    package init?(_ field: String) {
        var reader = Reader(rest: Array(field.utf8)[...])
        guard let lists = reader.lists() else { return nil }
        self.lists = lists
        var tokens: Set<LockToken> = []
        for list in lists {
            for case .token(let token) in list.conditions.map(\.kind) {
                tokens.insert(LockToken(uri: token))
            }
        }
        self.tokens = tokens
    }

    private struct Reader {
        /// The most lists, and the most conditions of a list: more than any client needs. Each may
        /// cost a lookup of a resource.
        static let listLimit = 256

        var rest: ArraySlice<UInt8>

        mutating func lists() -> [List]? {
            var lists: [List] = []
            var resource: String?
            var isTagged = false
            skipSpace()
            while let first = rest.first {
                if first == UInt8(ascii: "<") {
                    // Lists with a tag cannot follow lists without one, and a tag has at least one
                    // list.
                    guard isTagged || lists.isEmpty, let uri = codedURI(), rest.first == 0x28 else {
                        return nil
                    }
                    (resource, isTagged) = (uri, true)
                }
                guard let conditions = list(), lists.count < Self.listLimit else { return nil }
                lists.append(List(resource: resource, conditions: conditions))
            }
            return lists.isEmpty ? nil : lists
        }

        private mutating func list() -> [Condition]? {
            guard take("(") else { return nil }
            var conditions: [Condition] = []
            while !take(")") {
                guard let condition = condition(), conditions.count < Self.listLimit else {
                    return nil
                }
                conditions.append(condition)
            }
            return conditions.isEmpty ? nil : conditions
        }

        private mutating func condition() -> Condition? {
            var isNegated = false
            if rest.count > 3, rest.prefix(3).map({ $0 | 0x20 }) == Array("not".utf8) {
                rest = rest.dropFirst(3)
                isNegated = true
                skipSpace()
            }
            if rest.first == UInt8(ascii: "<") {
                return codedURI().map { Condition(kind: .token($0), isNegated: isNegated) }
            }
            guard take("["), let end = endOfTag(),
                let tag = EntityTag(String(decoding: rest[..<end], as: UTF8.self))
            else { return nil }
            rest = rest[end...]
            guard take("]") else { return nil }
            return Condition(kind: .tag(tag), isNegated: isNegated)
        }

        /// The position after the quote that ends a tag, which may contain brackets.
        private func endOfTag() -> Int? {
            guard let first = rest.firstIndex(of: 0x22),
                let last = rest[(first + 1)...].firstIndex(of: 0x22)
            else { return nil }
            return last + 1
        }

        private mutating func codedURI() -> String? {
            guard rest.first == UInt8(ascii: "<"), let end = rest.firstIndex(of: 0x3E) else {
                return nil
            }
            let uri = rest[(rest.startIndex + 1)..<end]
            guard !uri.isEmpty, !uri.contains(where: { $0 <= 0x20 || $0 == 0x3C || $0 == 0x7F })
            else { return nil }
            rest = rest[(end + 1)...]
            skipSpace()
            return String(decoding: uri, as: UTF8.self)
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            skipSpace()
            return true
        }

        private mutating func skipSpace() {
            while rest.first == 0x20 || rest.first == 0x09 { rest.removeFirst() }
        }
    }
}
