internal import HTTPParser

/// JSON that has passed `JSONGrammar`, as a list of its values in the order of the text.
///
/// It is for short content of the usual kind; Foundation reads the rest.
final class JSONTree {
    enum Kind: UInt8 { case object, array, string, number, yes, no, null }

    /// A value or a name, in one word: the content is short.
    struct Node {
        var kind: Kind
        /// Whether a string has escapes.
        var hasEscape = false
        /// Where the text begins: of a string behind its quotation mark.
        var start: UInt16
        /// Where it ends; of an array or an object the number of elements or members.
        var end: UInt16
        /// The node behind this one and all inside of it. The members of an object are pairs of
        /// nodes, a name and a value.
        var next: UInt16

        /// The bytes of its text.
        var count: Int { Int(end) - Int(start) }
    }

    let bytes: [UInt8]
    let nodes: [Node]
    /// Whether a part was met that only Foundation reads, even if the error was dropped.
    var needsFoundation = false
    /// The steps that coding paths may still take. Code that drops errors asks for a path at each
    /// element of an array, and each path counts the elements in front of it.
    private var pathSteps: Int

    /// - Parameters:
    ///   - bytes: valid JSON.
    ///   - nodes: its values, at least one, as `JSONGrammar` found them.
    init(_ bytes: [UInt8], _ nodes: [Node]) {
        (self.bytes, self.nodes) = (bytes, nodes)
        pathSteps = 8 * nodes.count
    }

    /// The value of the first member with a name.
    func member(_ name: String, of object: Int) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            unsafe bytes.withUnsafeBytes { bytes in
                let end = Int(nodes[object].next)
                var index = object + 1
                while index < end {
                    let (start, count) = (Int(nodes[index].start), nodes[index].count)
                    if count == wanted.count, unsafe Self.equal(bytes, from: start, wanted) {
                        return index + 1
                    }
                    index = Int(nodes[index + 1].next)
                }
                return nil
            }
        }
    }

    @inline(__always)
    private static func equal(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ wanted: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var offset = 0
        while offset < wanted.count {
            guard unsafe bytes[start &+ offset] == wanted[offset] else { return false }
            offset &+= 1
        }
        return true
    }

    /// The names of an object, in their order.
    func names(of object: Int) -> [String] {
        let end = Int(nodes[object].next)
        var (names, index) = ([String](), object + 1)
        while index < end {
            names.append(text(index) ?? "")
            index = Int(nodes[index + 1].next)
        }
        return names
    }

    /// The keys that lead to a value; none once they have cost too much, after which only
    /// Foundation's value counts.
    func path(to node: Int) -> [any CodingKey] {
        guard pathSteps > 0 else {
            needsFoundation = true
            return []
        }
        var (path, outer) = ([any CodingKey](), 0)
        while outer < node {
            var (inner, index) = (outer + 1, 0)
            // A member's value stands behind its name.
            let offset = nodes[outer].kind == .object ? 1 : 0
            while Int(nodes[inner + offset].next) <= node {
                inner = Int(nodes[inner + offset].next)
                index += 1
            }
            pathSteps -= index + 1
            path.append(offset == 1 ? JSONKey(text(inner) ?? "") : JSONIndex(index))
            outer = inner + offset
        }
        return path
    }

    /// The keys that lead to the value that begins at an offset; none where no value does.
    func path(toValueAt offset: Int) -> [any CodingKey] {
        // The text of a string begins behind its quotation mark.
        let node = nodes.firstIndex { Int($0.start) - ($0.kind == .string ? 1 : 0) == offset }
        return node.map { path(to: $0) } ?? []
    }

    /// The characters of a string; `nil` when it has half of a surrogate pair.
    func text(_ index: Int) -> String? {
        let node = nodes[index]
        guard node.hasEscape else { return plainText(node) }
        let bytes = bytes
        return JSONEscapes.decoded(bytes.span.extracting(Int(node.start)..<Int(node.end)))
    }

    private func plainText(_ node: Node) -> String {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe String(decoding: bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
        }
    }

    /// The value of a number without fraction and exponent; `nil` for others, and for those that
    /// are out of range.
    func integer<Value: FixedWidthInteger>(_ index: Int) -> Value? {
        let (node, bytes) = (nodes[index], bytes)
        return JSONNumber.integer(bytes.span.extracting(Int(node.start)..<Int(node.end)))
    }

    /// The value of a number; `nil` for one that is out of range.
    func double(_ index: Int) -> Double? {
        let node = nodes[index]
        let bytes = bytes
        if let short = JSONNumber.Short(bytes.span, from: Int(node.start)) { return short.double }
        guard let value = Double(plainText(node)), value.isFinite, value != 0 else { return nil }
        return value
    }
}

/// Lists the values of a `JSONTree` while the grammar is checked.
struct JSONTreeBuilder {
    /// The longest content that is taken: positions fit into nodes.
    private static let byteLimit = Int(UInt16.max)
    /// The most members of an object, each of which is searched for from the first on.
    private static let memberLimit: UInt16 = 64

    private(set) var nodes: [JSONTree.Node] = []
    /// Whether the list is wanted, and no value was met that does not go into it: content is short,
    /// objects have few members, and names neither escapes nor characters outside of ASCII, which
    /// would be compared in canonical form.
    private(set) var isUsual: Bool
    /// The innermost array or object that is open; its `next` is the one around it meanwhile.
    private var innermost = Self.outermost
    private static let outermost = UInt16.max
    /// Whether that is an array, and its elements or members so far. Its node has them at its end, and
    /// while one inside of it is open.
    private var isInArray = false
    private var count: UInt16 = 0

    /// - Parameter byteCount: the length of the content; 0 when no list is wanted.
    init(byteCount: Int) {
        isUsual = byteCount > 0 && byteCount <= Self.byteLimit
        if isUsual { nodes.reserveCapacity(byteCount / 16 + 4) }
    }

    @inline(__always)
    mutating func open(_ kind: JSONTree.Kind, at position: Int) {
        if isUsual { list(kind, at: position) }
    }

    private mutating func list(_ kind: JSONTree.Kind, at position: Int) {
        if isInArray { count += 1 }
        let outer = innermost
        if outer != Self.outermost { nodes[Int(outer)].end = count }
        innermost = UInt16(nodes.count)
        (isInArray, count) = (kind == .array, 0)
        nodes.append(JSONTree.Node(kind: kind, start: UInt16(position), end: 0, next: outer))
    }

    @inline(__always)
    mutating func close() {
        if isUsual { endInnermost() }
    }

    private mutating func endInnermost() {
        let index = Int(innermost)
        innermost = nodes[index].next
        nodes[index].end = count
        nodes[index].next = UInt16(nodes.count)
        guard innermost != Self.outermost else {
            isInArray = false
            return
        }
        let outer = nodes[Int(innermost)]
        (isInArray, count) = (outer.kind == .array, outer.end)
    }

    mutating func add(name text: Range<Int>, isPlain: Bool) {
        guard isUsual else { return }
        count += 1
        isUsual = isPlain && count <= Self.memberLimit
        append(.string, text, hasEscape: false)
    }

    mutating func add(_ kind: JSONTree.Kind, _ text: Range<Int>, hasEscape: Bool = false) {
        guard isUsual else { return }
        if isInArray { count += 1 }
        append(kind, text, hasEscape: hasEscape)
    }

    @inline(__always)
    private mutating func append(_ kind: JSONTree.Kind, _ text: Range<Int>, hasEscape: Bool) {
        nodes.append(
            JSONTree.Node(
                kind: kind, hasEscape: hasEscape, start: UInt16(text.lowerBound),
                end: UInt16(text.upperBound), next: UInt16(nodes.count + 1)))
    }
}
