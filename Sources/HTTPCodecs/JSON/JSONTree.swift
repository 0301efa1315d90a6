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
            unsafe bytes.withUnsafeBufferPointer { bytes in
                let end = Int(nodes[object].next)
                var index = object + 1
                while index < end {
                    let (start, count) = (Int(nodes[index].start), nodes[index].count)
                    if count == wanted.count, unsafe Self.equal(bytes[start...], wanted) {
                        return index + 1
                    }
                    index = Int(nodes[index + 1].next)
                }
                return nil
            }
        }
    }

    private static func equal(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>, _ wanted: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        for offset in 0..<wanted.count {
            guard unsafe bytes[bytes.startIndex + offset] == wanted[offset] else { return false }
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

/// Numbers that are exact in few steps.
enum JSONNumber {
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// A number of at most 15 digits without exponent, read in one go; it may be followed by
    /// anything else.
    struct Short {
        private(set) var digits: Int64 = 0
        private(set) var isNegative = false
        /// How many of the digits are behind the point.
        private(set) var fractionCount = 0
        /// The index behind it.
        private(set) var end: Int

        /// - Returns: `nil` for a number that is longer, and for anything else.
        @inline(__always)
        init?(_ text: Span<UInt8>, from start: Int) {
            end = start
            isNegative = text[start] == UInt8(ascii: "-")
            if isNegative { end += 1 }
            let first = end
            guard readDigits(text), end == first + 1 || text[first] != UInt8(ascii: "0") else {
                return nil
            }
            var count = end - first
            if end < text.count, text[end] == UInt8(ascii: ".") {
                end += 1
                let point = end
                guard readDigits(text) else { return nil }
                fractionCount = end - point
                count += fractionCount
            }
            guard count <= 15, end == text.count || text[end] | 0x20 != UInt8(ascii: "e") else {
                return nil
            }
        }

        /// - Returns: whether there is a digit.
        @inline(__always)
        private mutating func readDigits(_ text: Span<UInt8>) -> Bool {
            let start = end
            while end < text.count {
                let digit = text[end] &- 0x30
                guard digit <= 9 else { break }
                digits = digits &* 10 &+ Int64(digit)
                end += 1
            }
            return end > start
        }

        /// The value of one without a fraction; `nil` where it is out of range.
        @inline(__always)
        func integer<Value: FixedWidthInteger>() -> Value? {
            fractionCount == 0 ? Value(exactly: isNegative ? -digits : digits) : nil
        }

        /// The value. Digits and power of ten are exact, so that their quotient is rounded once,
        /// as it must be.
        @inline(__always)
        var double: Double {
            let number = Double(digits) / powers[fractionCount]
            return isNegative ? -number : number
        }
    }

    /// A number without fraction and exponent; `nil` for others, and for those out of range.
    static func integer<Value: FixedWidthInteger>(_ text: Span<UInt8>) -> Value? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Value = 0
        for index in (isNegative ? 1 : 0)..<text.count {
            let digit = text[index] &- 0x30
            guard digit <= 9 else { return nil }
            let (scaled, isTooLong) = value.multipliedReportingOverflow(by: 10)
            let (next, isTooGreat) =
                isNegative
                ? scaled.subtractingReportingOverflow(Value(digit))
                : scaled.addingReportingOverflow(Value(digit))
            guard !isTooLong, !isTooGreat else { return nil }
            value = next
        }
        return value
    }

    /// A number that is an integer, however it is written; `nil` for others, and for those out of
    /// range.
    static func wholeNumber<Value: FixedWidthInteger>(_ text: Span<UInt8>) -> Value? {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Value = 0
        // The zeros since the last other digit, and the digits behind the point.
        var (zeros, fraction, index) = (0, -1, isNegative ? 1 : 0)
        while index < text.count, text[index] | 0x20 != UInt8(ascii: "e") {
            defer { index += 1 }
            guard text[index] != UInt8(ascii: ".") else {
                fraction = 0
                continue
            }
            if fraction >= 0 { fraction += 1 }
            zeros += 1
            guard text[index] != UInt8(ascii: "0") else { continue }
            guard let scaled = shifted(value, by: zeros) else { return nil }
            let digit = Value(text[index] - 0x30)
            let (next, isTooGreat) =
                isNegative
                ? scaled.subtractingReportingOverflow(digit)
                : scaled.addingReportingOverflow(digit)
            guard !isTooGreat else { return nil }
            (value, zeros) = (next, 0)
        }
        guard value != 0 else { return 0 }
        let exponent = index < text.count ? exponent(text.extracting((index + 1)...)) : 0
        return shifted(value, by: exponent - max(fraction, 0) + zeros)
    }

    /// A value times a power of ten; `nil` when it is too great, or the power negative.
    private static func shifted<Value: FixedWidthInteger>(
        _ value: Value, by power: Int
    ) -> Value? {
        guard value != 0 else { return 0 }
        guard power >= 0 else { return nil }
        var value = value
        for _ in 0..<power {
            let (next, isTooGreat) = value.multipliedReportingOverflow(by: 10)
            guard !isTooGreat else { return nil }
            value = next
        }
        return value
    }

    /// The digits behind an `e`, with a sign or without; no content has room for greater ones.
    private static func exponent(_ text: Span<UInt8>) -> Int {
        let isNegative = text[0] == UInt8(ascii: "-")
        var value = 0
        for index in text.indices where text[index] >= 0x30 {
            value = min(value * 10 + Int(text[index] - 0x30), 1 << 40)
        }
        return isNegative ? -value : value
    }
}

/// The escapes of strings (RFC 8259 section 7).
enum JSONEscapes {
    /// The characters of a string in valid JSON; `nil` when it has half of a surrogate pair.
    static func decoded(_ text: Span<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        let isWhole = decode(text) { byte in
            bytes.append(byte)
            return true
        }
        return isWhole ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// Whether the characters of a string in valid JSON are these, in UTF-8.
    static func isSame(_ text: Span<UInt8>, as wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        var count = 0
        let isPrefix = decode(text) { byte in
            guard count < wanted.count, unsafe wanted[count] == byte else { return false }
            count += 1
            return true
        }
        return isPrefix && count == wanted.count
    }

    /// Calls `body` with each byte of the characters, until it returns `false`.
    /// - Returns: whether it got them all; `false` also for half of a surrogate pair.
    @inline(__always)
    private static func decode(_ text: Span<UInt8>, _ body: (UInt8) -> Bool) -> Bool {
        var index = 0
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\") else {
                guard body(text[index]) else { return false }
                index += 1
                continue
            }
            index += 2
            let decoded: UInt8
            switch text[index - 1] {
            case UInt8(ascii: "b"): decoded = 0x08
            case UInt8(ascii: "f"): decoded = 0x0C
            case UInt8(ascii: "n"): decoded = 0x0A
            case UInt8(ascii: "r"): decoded = 0x0D
            case UInt8(ascii: "t"): decoded = 0x09
            case UInt8(ascii: "u"):
                guard let scalar = scalar(text, &index), scalar.utf8.allSatisfy(body) else {
                    return false
                }
                continue
            case let other: decoded = other
            }
            guard body(decoded) else { return false }
        }
        return true
    }

    private static func scalar(_ text: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
        let first = unit(text, &index)
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
        guard text.count - index >= 6, text[index] == UInt8(ascii: "\\"),
            text[index + 1] == UInt8(ascii: "u")
        else { return nil }
        index += 2
        let second = unit(text, &index)
        guard second & 0xFC00 == 0xDC00 else { return nil }
        return Unicode.Scalar(0x1_0000 + (first & 0x3FF) << 10 + second & 0x3FF)
    }

    /// Four hexadecimal digits.
    private static func unit(_ text: Span<UInt8>, _ index: inout Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = text[index]
            value = value << 4 | UInt32(byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
            index += 1
        }
        return value
    }
}
