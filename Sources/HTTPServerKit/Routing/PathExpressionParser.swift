/// Parses the text of a `PathExpression`.
struct PathExpressionParser {
    typealias Fault = PathExpression.Fault

    private let text: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    private(set) var groups: [String?] = []
    private(set) var ignoresCase = false

    /// The deepest nesting of groups; each level uses stack.
    private static let depthLimit = 64

    init(_ text: String) {
        self.text = Array(text.unicodeScalars)
    }

    mutating func parse() throws(Fault) -> PathNode {
        ignoresCase = take("(?i)")
        let node = try readAlternatives()
        guard position == text.count else { throw fault("unmatched )") }
        return node
    }

    // MARK: Structure

    private mutating func readAlternatives() throws(Fault) -> PathNode {
        var alternatives = [try readSequence()]
        while take("|") { alternatives.append(try readSequence()) }
        return alternatives.count == 1 ? alternatives[0] : .alternatives(alternatives)
    }

    private mutating func readSequence() throws(Fault) -> PathNode {
        var parts: [PathNode] = []
        while let next, next != "|", next != ")" {
            parts.append(try readRepetition(of: try readAtom(next)))
        }
        return .sequence(parts)
    }

    private mutating func readRepetition(of atom: PathNode) throws(Fault) -> PathNode {
        let start = position
        let least: Int
        var most: Int?
        switch next {
        case "*": (least, most) = (0, nil)
        case "+": (least, most) = (1, nil)
        case "?": (least, most) = (0, 1)
        case "{":
            position += 1
            (least, most) = try readCounts()
        default: return atom
        }
        if text[start] != "{" { position += 1 }
        switch atom {
        case .start, .end:
            throw Fault(offset: start, reason: "^ and $ cannot be repeated")
        default: break
        }
        let isGreedy = !take("?")
        if let next, next == "*" || next == "+" || next == "?" || next == "{" {
            throw fault("nothing to repeat")
        }
        return .repeated(atom, least: least, most: most, isGreedy: isGreedy)
    }

    /// Reads the rest of a repetition: `2}`, `2,}` or `2,5}`.
    private mutating func readCounts() throws(Fault) -> (Int, Int?) {
        let least = try readNumber()
        var most: Int? = least
        if take(",") { most = next == "}" ? nil : try readNumber() }
        guard take("}") else { throw fault("a } is missing") }
        if let most, most < least { throw fault("expected the greater number second") }
        return (least, most)
    }

    private mutating func readNumber() throws(Fault) -> Int {
        var number = 0
        let start = position
        while let next, ("0"..."9").contains(next), number <= PathProgram.sizeLimit {
            number = number * 10 + Int(next.value - 0x30)
            position += 1
        }
        guard position > start, number <= PathProgram.sizeLimit else {
            throw fault("a number up to \(PathProgram.sizeLimit) is missing")
        }
        return number
    }

    private mutating func readAtom(_ scalar: Unicode.Scalar) throws(Fault) -> PathNode {
        position += 1
        switch scalar {
        case "(": return try readGroup()
        case "[": return .one(try readClass())
        case ".": return .one(.noLineBreaks)
        case "^": return .start
        case "$": return .end
        case "\\": return .one(try readEscape())
        case "*", "+", "?", "{", "}", "]":
            position -= 1
            throw fault("\(scalar) needs a backslash before it")
        default: return .one(ScalarSet(scalar))
        }
    }

    private mutating func readGroup() throws(Fault) -> PathNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else { throw fault("groups are nested too deeply") }
        let number = try readGroupKind()
        let node = try readAlternatives()
        guard take(")") else { throw fault("a ) is missing") }
        return number.map { .group($0, node) } ?? node
    }

    /// - Returns: the number of the group; `nil` for a group without a capture.
    private mutating func readGroupKind() throws(Fault) -> Int? {
        guard next == "?" else { return beginGroup(named: nil) }
        if take("?:") { return nil }
        if take("?<"), next != "=", next != "!" { return beginGroup(named: try readName()) }
        throw fault("expected (?:...) or (?<name>...)")
    }

    private mutating func beginGroup(named name: String?) -> Int {
        groups.append(name)
        return groups.count
    }

    private mutating func readName() throws(Fault) -> String {
        var name = String.UnicodeScalarView()
        while let next, next != ">" {
            guard ScalarSet.words.contains(next.value) else {
                throw fault("expected letters, digits and _ in a name")
            }
            name.append(next)
            position += 1
        }
        guard take(">"), !name.isEmpty else { throw fault("a name is missing") }
        let text = String(name)
        if groups.contains(text) { throw fault("\(text) names two groups") }
        return text
    }

    // MARK: Sets

    /// Reads an escape, after its backslash.
    private mutating func readEscape() throws(Fault) -> ScalarSet {
        guard let scalar = next else { throw fault("a backslash ends the expression") }
        position += 1
        switch scalar {
        case "d": return .digits
        case "D": return ScalarSet.digits.inverted
        case "w": return .words
        case "W": return ScalarSet.words.inverted
        case "s": return .spaces
        case "S": return ScalarSet.spaces.inverted
        case "n": return ScalarSet("\n")
        case "r": return ScalarSet("\r")
        case "t": return ScalarSet("\t")
        case "x": return ScalarSet(try readHex(count: 2))
        case "u":
            guard take("{") else { throw fault("a { is missing") }
            let set = ScalarSet(try readHex(count: nil))
            guard take("}") else { throw fault("a } is missing") }
            return set
        default:
            guard !ScalarSet.words.contains(scalar.value) || scalar == "_", scalar.isASCII else {
                position -= 1
                throw fault("\\\(scalar) is not supported")
            }
            return ScalarSet(scalar)
        }
    }

    private mutating func readHex(count: Int?) throws(Fault) -> Unicode.Scalar {
        var value: UInt32 = 0
        let start = position
        while let next, position - start < (count ?? 6), let digit = Character(next).hexDigitValue,
            next.isASCII
        {
            value = value << 4 | UInt32(digit)
            position += 1
        }
        guard position > start, count == nil || position - start == count,
            let scalar = Unicode.Scalar(value)
        else { throw fault("a scalar in hexadecimal digits is missing") }
        return scalar
    }

    /// Reads a set, after its opening bracket.
    private mutating func readClass() throws(Fault) -> ScalarSet {
        var set = ScalarSet([], isInverted: take("^"))
        var isEmpty = true
        while let scalar = next, scalar != "]" || isEmpty {
            if scalar == "]" || scalar == "[" { throw fault("\(scalar) needs a backslash here") }
            isEmpty = false
            let first = try readMember()
            guard next == "-", position + 1 < text.count, text[position + 1] != "]" else {
                set.others.append(first)
                continue
            }
            position += 1
            let last = try readMember()
            guard let low = first.single, let high = last.single, low <= high else {
                throw fault("expected a range from a scalar to a later one")
            }
            set.ranges.append(low...high)
        }
        guard take("]") else { throw fault("a ] is missing") }
        return set
    }

    private mutating func readMember() throws(Fault) -> ScalarSet {
        guard let scalar = next else { throw fault("a ] is missing") }
        position += 1
        return scalar == "\\" ? try readEscape() : ScalarSet(scalar)
    }

    // MARK: Scalars

    private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }

    private mutating func take(_ wanted: String) -> Bool {
        let wanted = wanted.unicodeScalars
        guard text[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    private func fault(_ reason: String) -> Fault { Fault(offset: position, reason: reason) }
}

extension ScalarSet {
    /// The only scalar of the set; `nil` if the set is not a single scalar.
    fileprivate var single: UInt32? {
        guard !isInverted, others.isEmpty, ranges.count == 1, ranges[0].count == 1 else {
            return nil
        }
        return ranges[0].lowerBound
    }
}
