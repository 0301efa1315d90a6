/// A regular expression for paths, matched in time that grows with the length of the path alone:
/// clients choose paths, and no path keeps an event loop from other clients.
///
/// ```swift
/// router.route(.get, matching: #"/notes/(?<number>[0-9]+)(\.txt)?"#, to: notes)
/// ```
///
/// It matches the whole path, by Unicode scalars:
///
/// - `.` is any scalar but a line break; `[a-z_]` and `[^/]` are classes; `\d`, `\w`, `\s` are ASCII
///   digits, letters with digits and `_`, and white space, `\D`, `\W`, `\S` all else;
/// - `*`, `+`, `?`, `{2}`, `{2,}` and `{2,5}` repeat, as often as they can, or with `?` behind them
///   as rarely as they can;
/// - `(...)` is a group, `(?<name>...)` one with a name, `(?:...)` one that is not kept, `|` stands
///   between alternatives, of which the first that leads to a match counts;
/// - `^` and `$` are the ends of the path; `\n`, `\t`, `\x2F` and `\u{E9}` are scalars, and a backslash
///   before any other sign that is no letter and no digit takes its meaning away;
/// - `(?i)` at the beginning has case not count.
///
/// References back to a group, and conditions on what stands before or behind a place, are refused:
/// they cannot be matched in such time.
public struct PathExpression: Sendable, ExpressibleByStringLiteral {
    /// Why a text is no expression.
    public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The number of Unicode scalars before the place.
        public let offset: Int
        /// The kind of the error.
        public let reason: String

        /// One line that says what and where.
        public var description: String { "regular expression, scalar \(offset): \(reason)" }
    }

    let program: PathProgram
    /// The names of the groups, in their order; `nil` for a group without one.
    let groups: [String?]

    /// Reads an expression.
    /// - Throws: `Fault` for what is none, and for one that would need more than 1,000 steps for each
    ///   scalar of a path.
    public init(_ text: String) throws(Fault) {
        var parser = PathExpressionParser(text)
        let node = try parser.parse()
        groups = parser.groups
        program = try PathProgram(node, groupCount: groups.count, ignoresCase: parser.ignoresCase)
    }

    /// An expression that stands in the program; one that is ill-formed traps.
    public init(stringLiteral text: StaticString) {
        do throws(Fault) {
            try self.init("\(text)")
        } catch {
            preconditionFailure("\(text): \(error)")
        }
    }

    /// The match of the whole path and of each group; `nil` when the path does not match.
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
    /// A group that is kept, by its number from 1 on.
    case group(Int, PathNode)
    case repeated(PathNode, least: Int, most: Int?, isGreedy: Bool)
}

/// A set of Unicode scalars.
struct ScalarSet: Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isInverted = false
    /// Classes such as `\D` inside of brackets.
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

    /// With case left aside.
    func containsAnyCase(_ scalar: Unicode.Scalar) -> Bool {
        // The character as the set contains it, because an inverted set has to leave out both
        // cases.
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
