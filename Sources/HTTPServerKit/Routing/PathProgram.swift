/// An expression compiled to steps. Matching follows all ways through the steps in parallel, so
/// each scalar of a path is tested at most once per step (Thompson's construction; each way stores
/// the positions of its groups, as in Pike's virtual machine).
struct PathProgram: Sendable {
    typealias Fault = PathExpression.Fault

    private enum Step: Sendable {
        case one(ScalarSet)
        case start, end
        case jump(Int)
        /// Two ways, the preferred one first.
        case split(Int, Int)
        /// Stores the current position in a slot.
        case save(Int)
        case match
    }

    /// The most steps of an expression.
    static let sizeLimit = 1_000

    private var steps: [Step] = []
    private let slots: Int
    private let ignoresCase: Bool

    init(_ node: PathNode, groupCount: Int, ignoresCase: Bool) throws(Fault) {
        slots = 2 * (groupCount + 1)
        self.ignoresCase = ignoresCase
        try add(node)
        try append(.match)
    }

    // MARK: Steps

    @discardableResult
    private mutating func append(_ step: Step) throws(Fault) -> Int {
        guard steps.count < Self.sizeLimit else {
            throw Fault(offset: 0, reason: "the expression needs more than \(Self.sizeLimit) steps")
        }
        steps.append(step)
        return steps.count - 1
    }

    private mutating func add(_ node: PathNode) throws(Fault) {
        switch node {
        case .one(let set): try append(.one(set))
        case .start: try append(.start)
        case .end: try append(.end)
        case .sequence(let parts): for part in parts { try add(part) }
        case .alternatives(let parts): try add(alternatives: parts)
        case .group(let number, let inner):
            try append(.save(2 * number))
            try add(inner)
            try append(.save(2 * number + 1))
        case .repeated(let inner, let least, let most, let isGreedy):
            for _ in 0..<least {
                let count = steps.count
                try add(inner)
                // An inner part without steps matches only empty text. Stop, because the limit of
                // steps would never end this loop.
                if steps.count == count { break }
            }
            if let most {
                try add(inner, upTo: most - least, isGreedy: isGreedy)
            } else {
                try add(anyNumberOf: inner, isGreedy: isGreedy)
            }
        }
    }

    private mutating func add(alternatives parts: [PathNode]) throws(Fault) {
        var jumps: [Int] = []
        for part in parts.dropLast() {
            let split = try append(.split(0, 0))
            try add(part)
            jumps.append(try append(.jump(0)))
            steps[split] = .split(split + 1, steps.count)
        }
        if let last = parts.last { try add(last) }
        for jump in jumps { steps[jump] = .jump(steps.count) }
    }

    private mutating func add(_ inner: PathNode, upTo count: Int, isGreedy: Bool) throws(Fault) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(try append(.split(0, 0)))
            try add(inner)
        }
        for split in splits { setSplit(split, steps.count, isGreedy) }
    }

    private mutating func add(anyNumberOf inner: PathNode, isGreedy: Bool) throws(Fault) {
        let split = try append(.split(0, 0))
        try add(inner)
        try append(.jump(split))
        setSplit(split, steps.count, isGreedy)
    }

    private mutating func setSplit(_ split: Int, _ end: Int, _ isGreedy: Bool) {
        steps[split] = isGreedy ? .split(split + 1, end) : .split(end, split + 1)
    }

    // MARK: Matching

    /// The ways that are followed, the preferred ones first: each way's step and its slots.
    private struct Ways {
        var steps: [Int] = []
        var places: [Int] = []
        /// For each step, the index of the scalar at which a way last reached it.
        var seen: [Int]

        init(_ count: Int) {
            seen = Array(repeating: -1, count: count)
        }

        mutating func removeAll() {
            steps.removeAll(keepingCapacity: true)
            places.removeAll(keepingCapacity: true)
        }
    }

    /// The start and end positions of the match and of each group, -1 for an unused group; `nil`
    /// unless all scalars match.
    func match(_ scalars: [Unicode.Scalar]) -> [Int]? {
        var (now, next) = (Ways(steps.count), Ways(steps.count))
        var places = Array(repeating: -1, count: slots)
        follow(0, at: 0, of: scalars.count, &places, &now)
        for (index, scalar) in scalars.enumerated() {
            guard !now.steps.isEmpty else { return nil }
            for (way, step) in now.steps.enumerated() {
                guard case .one(let set) = steps[step], isIn(set, scalar) else { continue }
                for slot in 0..<slots { places[slot] = now.places[way * slots + slot] }
                follow(step + 1, at: index + 1, of: scalars.count, &places, &next)
            }
            swap(&now, &next)
            next.removeAll()
        }
        for (way, step) in now.steps.enumerated() {
            guard case .match = steps[step] else { continue }
            var found = Array(now.places[way * slots..<(way + 1) * slots])
            (found[0], found[1]) = (0, scalars.count)
            return found
        }
        return nil
    }

    private func isIn(_ set: ScalarSet, _ scalar: Unicode.Scalar) -> Bool {
        ignoresCase ? set.containsAnyCase(scalar) : set.contains(scalar.value)
    }

    /// Adds the steps that can be reached from a step without consuming a scalar, each step once.
    private func follow(
        _ step: Int, at index: Int, of count: Int, _ places: inout [Int], _ ways: inout Ways
    ) {
        guard ways.seen[step] != index else { return }
        ways.seen[step] = index
        switch steps[step] {
        case .jump(let target): follow(target, at: index, of: count, &places, &ways)
        case .split(let first, let second):
            follow(first, at: index, of: count, &places, &ways)
            follow(second, at: index, of: count, &places, &ways)
        case .save(let slot):
            let old = places[slot]
            places[slot] = index
            follow(step + 1, at: index, of: count, &places, &ways)
            places[slot] = old
        case .start: if index == 0 { follow(step + 1, at: index, of: count, &places, &ways) }
        case .end: if index == count { follow(step + 1, at: index, of: count, &places, &ways) }
        case .one, .match:
            ways.steps.append(step)
            ways.places += places
        }
    }
}
