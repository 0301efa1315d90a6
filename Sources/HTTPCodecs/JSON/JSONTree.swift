internal import HTTPParser

/// JSON that has passed `JSONGrammar`, as a list of its values in the order of the text.
///
/// It is for short content of the usual kind; `init` gives up on the rest, which Foundation reads.
final class JSONTree {
    enum Kind: UInt8 { case object, array, string, number, yes, no, null }

    struct Node {
        var kind: Kind
        /// Whether a string has escapes.
        var hasEscape = false
        /// The text: of a string that between its quotation marks.
        var start: Int32
        var end: Int32
        /// The node behind this one and all inside of it. The members of an object are pairs of
        /// nodes, a name and a value.
        var next: Int32
    }

    /// The longest content that is taken.
    static let byteLimit = 64 << 10
    let bytes: [UInt8]
    let nodes: [Node]
    /// Whether a part was met that only Foundation reads, even if the error was dropped.
    var needsFoundation = false

    /// - Parameters:
    ///   - bytes: valid JSON.
    ///   - start: where it begins.
    /// - Returns: `nil` for long content, objects of many members, and names with escapes or
    ///   other characters than those of ASCII, which are compared in canonical form.
    init?(_ bytes: [UInt8], from start: Int) {
        guard bytes.count <= Self.byteLimit else { return nil }
        var builder = JSONTreeBuilder()
        guard builder.read(bytes.span, from: start) else { return nil }
        self.bytes = bytes
        nodes = builder.nodes
    }

    /// The value of the first member with a name.
    func member(_ name: String, of object: Int) -> Int? {
        var name = name
        return name.withUTF8 { wanted in
            let end = Int(nodes[object].next)
            var index = object + 1
            while index < end {
                if unsafe isName(index, wanted) { return index + 1 }
                index = Int(nodes[index + 1].next)
            }
            return nil
        }
    }

    private func isName(_ index: Int, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
        let (start, end) = (Int(nodes[index].start), Int(nodes[index].end))
        guard end - start == wanted.count else { return false }
        for offset in 0..<wanted.count where unsafe bytes[start + offset] != wanted[offset] {
            return false
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

    /// The number of elements of an array.
    func count(of array: Int) -> Int {
        let end = Int(nodes[array].next)
        var (count, index) = (0, array + 1)
        while index < end {
            count += 1
            index = Int(nodes[index].next)
        }
        return count
    }

    /// The characters of a string; `nil` when it has half of a surrogate pair.
    func text(_ index: Int) -> String? {
        let (node, bytes) = (nodes[index], bytes)
        let span = bytes.span.extracting(Int(node.start)..<Int(node.end))
        guard node.hasEscape else {
            return unsafe span.withUnsafeBufferPointer {
                unsafe String(decoding: $0, as: UTF8.self)
            }
        }
        return JSONEscapes.decoded(span)
    }

    /// The value of a number without fraction and exponent; `nil` for others, and for those that
    /// are out of range.
    func integer<Value: FixedWidthInteger>(_ index: Int) -> Value? {
        var (position, end) = (Int(nodes[index].start), Int(nodes[index].end))
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var value: Value = 0
        while position < end {
            let digit = bytes[position] &- 0x30
            guard digit <= 9 else { return nil }
            let (scaled, isTooLong) = value.multipliedReportingOverflow(by: 10)
            let (next, isTooGreat) =
                isNegative
                ? scaled.subtractingReportingOverflow(Value(digit))
                : scaled.addingReportingOverflow(Value(digit))
            guard !isTooLong, !isTooGreat else { return nil }
            value = next
            position += 1
        }
        end = position
        return value
    }

    /// The value of a number; `nil` for one that is out of range.
    func double(_ index: Int) -> Double? {
        let (node, bytes) = (nodes[index], bytes)
        let span = bytes.span.extracting(Int(node.start)..<Int(node.end))
        if let value = JSONNumber.shortDouble(span) { return value }
        let text = unsafe span.withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
        guard let value = Double(text), value.isFinite, value != 0 else { return nil }
        return value
    }
}

/// Makes the list of values of a `JSONTree`.
private struct JSONTreeBuilder {
    /// The most members of an object, each of which is searched for from the first on.
    private static let memberLimit = 64

    private(set) var nodes: [JSONTree.Node] = []

    mutating func read(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        nodes.reserveCapacity(bytes.count / 16 + 4)
        var position = start
        var open: [(node: Int, members: Int)] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""): readString(bytes, &position)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                open.append((nodes.count, 0))
                add(byte == UInt8(ascii: "{") ? .object : .array, position, position)
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                position += 1
                guard let (node, _) = open.popLast() else { return false }
                nodes[node].next = Int32(nodes.count)
            case UInt8(ascii: ":"):
                position += 1
                open[open.count - 1].members += 1
                guard let name = nodes.last, isPlainName(name, bytes),
                    open[open.count - 1].members <= Self.memberLimit
                else { return false }
            case UInt8(ascii: "t"): addWord(.yes, 4, &position)
            case UInt8(ascii: "f"): addWord(.no, 5, &position)
            case UInt8(ascii: "n"): addWord(.null, 4, &position)
            case UInt8(ascii: "-"), 0x30...0x39: readNumber(bytes, &position)
            default: position += 1
            }
        }
        return !nodes.isEmpty
    }

    private mutating func add(
        _ kind: JSONTree.Kind, hasEscape: Bool = false, _ start: Int, _ end: Int
    ) {
        nodes.append(
            JSONTree.Node(
                kind: kind, hasEscape: hasEscape, start: Int32(start), end: Int32(end),
                next: Int32(nodes.count + 1)))
    }

    private mutating func addWord(_ kind: JSONTree.Kind, _ count: Int, _ position: inout Int) {
        add(kind, position, position + count)
        position += count
    }

    private mutating func readString(_ bytes: Span<UInt8>, _ position: inout Int) {
        let start = position + 1
        var (end, hasEscape) = (start, false)
        while true {
            end = JSONGrammar.plainEnd(bytes, from: end)
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") { break }
            let isEscape = byte == UInt8(ascii: "\\")
            hasEscape = hasEscape || isEscape
            end += isEscape ? 2 : 1
        }
        add(.string, hasEscape: hasEscape, start, end)
        position = end + 1
    }

    private mutating func readNumber(_ bytes: Span<UInt8>, _ position: inout Int) {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                position += 1
                continue
            default: break
            }
            break
        }
        add(.number, start, position)
    }

    private func isPlainName(_ name: JSONTree.Node, _ bytes: Span<UInt8>) -> Bool {
        guard !name.hasEscape else { return false }
        for index in Int(name.start)..<Int(name.end) where bytes[index] >= 0x80 { return false }
        return true
    }
}

/// Numbers that are exact in few steps.
enum JSONNumber {
    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// A number of at most 15 digits without exponent: digits and power of ten are exact, so that
    /// their quotient is rounded once, as it must be.
    static func shortDouble(_ text: Span<UInt8>) -> Double? {
        guard text.count <= 17 else { return nil }
        let isNegative = text[0] == UInt8(ascii: "-")
        var (value, digits, fraction) = (0 as Int64, 0, -1)
        for index in (isNegative ? 1 : 0)..<text.count {
            if text[index] == UInt8(ascii: ".") {
                fraction = 0
                continue
            }
            let digit = text[index] &- 0x30
            guard digit <= 9 else { return nil }
            value = value &* 10 &+ Int64(digit)
            digits += 1
            if fraction >= 0 { fraction += 1 }
        }
        guard digits <= 15 else { return nil }
        let number = Double(value) / powers[max(fraction, 0)]
        return isNegative ? -number : number
    }
}

/// The escapes of strings (RFC 8259 section 7).
enum JSONEscapes {
    /// The characters of a string in valid JSON; `nil` when it has half of a surrogate pair.
    static func decoded(_ text: Span<UInt8>) -> String? {
        var (bytes, index) = ([UInt8](), 0)
        bytes.reserveCapacity(text.count)
        while index < text.count {
            guard text[index] == UInt8(ascii: "\\") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            index += 2
            switch text[index - 1] {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(text, &index) else { return nil }
                bytes += scalar.utf8
            case let other: bytes.append(other)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
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
