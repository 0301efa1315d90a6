/// A regular expression for paths. The time of a match grows linearly with the length of the path,
/// because clients choose paths and must not be able to block an event loop.
///
/// ```swift
/// router.route(.get, matching: #"/notes/(?<number>[0-9]+)(\.txt)?"#, to: notes)
/// ```
///
/// It matches the whole path, by Unicode scalars:
///
/// - `.` is any scalar except a line break; `[a-z_]` and `[^/]` are classes. `\d`, `\w` and `\s`
///   are ASCII: digits; letters, digits and `_`; white space. `\D`, `\W` and `\S` are their
///   complements.
/// - `*`, `+`, `?`, `{2}`, `{2,}` and `{2,5}` repeat as often as possible; with a following `?`, as
///   rarely as possible.
/// - `(...)` is a group, `(?<name>...)` a named group, `(?:...)` a group without a capture. `|`
///   separates alternatives; the first one that leads to a match is used.
/// - `^` and `$` are the start and the end of the path. `\n`, `\r`, `\t`, `\x2F` and `\u{E9}` are
///   scalars. Any other ASCII character that is not a letter or digit is literal after a backslash.
/// - `(?i)` at the beginning makes the match case-insensitive.
///
/// Back-references, lookahead and lookbehind are refused, because they cannot be matched in linear
/// time.
public struct PathExpression: Sendable, ExpressibleByStringLiteral {
    /// The reason why a text is not a valid expression.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The position of the error, in Unicode scalars from the start; 0 if the expression is too
        /// long.
        public let offset: Int
        /// The description of the error.
        public let reason: String

        /// The reason and the position, in one line.
        public var description: String { "regular expression, scalar \(offset): \(reason)" }
    }

    let program: PathProgram
    /// The names of the groups, in their order; `nil` for a group without one.
    let groups: [String?]

    /// Parses an expression.
    /// - Throws: `Fault` for an invalid expression, and for an expression that compiles to more
    ///   than 1,000 steps.
    public init(_ text: String) throws(Fault) {
        var parser = PathExpressionParser(text)
        let node = try parser.parse()
        groups = parser.groups
        program = try PathProgram(node, groupCount: groups.count, ignoresCase: parser.ignoresCase)
    }

    /// Parses an expression in the program's source; traps if it is invalid.
    public init(stringLiteral text: StaticString) {
        do throws(Fault) {
            try self.init("\(text)")
        } catch {
            preconditionFailure("\(text): \(error)")
        }
    }

    /// The text of the whole match and of each group, `nil` for an unused group; `nil` if the path
    /// does not match.
    func match(_ path: String) -> [String?]? {
        let scalars = path.unicodeScalars.map { $0 }
        guard let places = program.match(scalars) else { return nil }
        return stride(from: 0, to: places.count, by: 2).map { slot in
            guard places[slot] >= 0, places[slot + 1] >= places[slot] else { return nil }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars[places[slot]..<places[slot + 1]])
            return String(text)
        }
    }
}

/// A parsed expression, as a tree.
indirect enum PathNode {
    case one(ScalarSet)
    case start, end
    case sequence([PathNode])
    case alternatives([PathNode])
    /// A capturing group and its number, from 1 on.
    case group(Int, PathNode)
    case repeated(PathNode, least: Int, most: Int?, isGreedy: Bool)
}

/// A set of Unicode scalars.
struct ScalarSet: Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isInverted = false
    /// Further members: the single scalars and the classes, such as `\D`, in brackets.
    var others: [ScalarSet] = []

    init(_ ranges: [ClosedRange<UInt32>], isInverted: Bool = false) {
        (self.ranges, self.isInverted) = (ranges, isInverted)
    }

    init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

    static let digits = ScalarSet([0x30...0x39])
    static let words = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let spaces = ScalarSet([0x09...0x0D, 0x20...0x20])
    static let noLineBreaks = ScalarSet(
        [0x0A...0x0D, 0x85...0x85, 0x2028...0x2029], isInverted: true)

    var inverted: ScalarSet {
        var set = self
        set.isInverted.toggle()
        return set
    }

    func contains(_ scalar: UInt32) -> Bool {
        let isIn =
            ranges.contains { $0.contains(scalar) } || others.contains { $0.contains(scalar) }
        return isIn != isInverted
    }

    /// Whether the set contains a scalar, compared case-insensitively.
    func containsAnyCase(_ scalar: Unicode.Scalar) -> Bool {
        // An inverted set must exclude a scalar in all cases, so it must contain all forms.
        let forms = [
            scalar.value, Self.single(scalar.properties.lowercaseMapping),
            Self.single(scalar.properties.uppercaseMapping),
        ].compactMap { $0 }
        return isInverted ? forms.allSatisfy(contains) : forms.contains(where: contains)
    }

    private static func single(_ text: String) -> UInt32? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first?.value : nil
    }
}
