internal import HTTPParser

/// JSON that has passed `JSONGrammar`, as a list of its values in the order of the text.
///
/// The tree supports short content of the usual kinds; Foundation reads other content.
final class JSONTree {
    enum Kind: UInt8 { case object, array, string, number, yes, no, null }

    /// A value or a name, packed into one word. 16 bits are enough for offsets in short content.
    struct Node {
        var kind: Kind
        /// Whether a string has escapes.
        var hasEscape = false
        /// The offset of the text; of a string, the offset after its quotation mark.
        var start: UInt16
        /// The end of the text; of an array or an object, the number of elements or members.
        var end: UInt16
        /// The index of the node after this one and all nodes inside of it. The members of an
        /// object are pairs of nodes, a name and a value.
        var next: UInt16

        /// The length of the text in bytes.
        var count: Int { Int(end) - Int(start) }
    }

    let bytes: [UInt8]
    let nodes: [Node]
    /// Whether a decoder met a value that only Foundation reads, even if the error was dropped.
    var needsFoundation = false
    /// How many steps coding paths may still take. Code that drops errors requests a path at each
    /// element of an array, and each path counts the elements before it.
    private var pathSteps: Int

    /// - Parameters:
    ///   - bytes: valid JSON.
    ///   - nodes: the values that `JSONGrammar` listed, at least one.
    init(_ bytes: [UInt8], _ nodes: [Node]) {
        (self.bytes, self.nodes) = (bytes, nodes)
        pathSteps = 8 * nodes.count
    }

    /// The node of the first member's value with this name; nil without such a member.
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

    /// The coding path of a value. After too many steps it is empty, and Foundation decodes the
    /// content again.
    func path(to node: Int) -> [any CodingKey] {
        guard pathSteps > 0 else {
            needsFoundation = true
            return []
        }
        var (path, outer) = ([any CodingKey](), 0)
        while outer < node {
            var (inner, index) = (outer + 1, 0)
            // A member's value follows its name.
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

    /// The coding path of the value that begins at an offset; empty if no value begins there.
    func path(toValueAt offset: Int) -> [any CodingKey] {
        // The text of a string begins after its quotation mark.
        let node = nodes.firstIndex { Int($0.start) - ($0.kind == .string ? 1 : 0) == offset }
        return node.map { path(to: $0) } ?? []
    }

    /// The characters of a string; `nil` if it contains half of a surrogate pair.
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

    /// The value of a number without fraction and exponent; `nil` for other numbers, or out of
    /// range.
    func integer<Value: FixedWidthInteger>(_ index: Int) -> Value? {
        let (node, bytes) = (nodes[index], bytes)
        return JSONNumber.integer(bytes.span.extracting(Int(node.start)..<Int(node.end)))
    }

    /// The value of a number; `nil` if it is out of range.
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
    /// The longest content in bytes: offsets must fit into nodes.
    private static let byteLimit = Int(UInt16.max)
    /// The most members of an object, because each look-up is a linear search.
    private static let memberLimit: UInt16 = 64

    private(set) var nodes: [JSONTree.Node] = []
    /// Whether the list is requested and possible: the content is short, objects have few members,
    /// and names have neither escapes nor characters beyond ASCII, which would be compared in
    /// canonical form.
    private(set) var isUsual: Bool
    /// The innermost open array or object. Until it is closed, its `next` is the one around it.
    private var innermost = Self.outermost
    private static let outermost = UInt16.max
    /// Whether `innermost` is an array, and its elements or members so far. Its node gets the count
    /// when it is closed, or when an array or object inside of it is opened.
    private var isInArray = false
    private var count: UInt16 = 0

    /// - Parameter byteCount: the length of the content in bytes; 0 if no list is requested.
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
