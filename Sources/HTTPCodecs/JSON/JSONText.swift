internal import HTTPParser

/// The text of a value that is being written, and its open objects and arrays.
struct JSONText {
    private struct Level {
        var isObject = false
        /// Identifies the container whose level this is.
        var number = 0
        var isEmpty = true
        /// The index in `names` of the container's first name.
        var firstName = 0
    }

    /// The ranges of names in the text. The first four, enough for most objects, are not allocated.
    private struct Names {
        private var first = (0..<0, 0..<0, 0..<0, 0..<0)
        private var others: [Range<Int>] = []
        private(set) var count = 0

        subscript(index: Int) -> Range<Int> {
            switch index {
            case 0: first.0
            case 1: first.1
            case 2: first.2
            case 3: first.3
            default: others[index - 4]
            }
        }

        mutating func append(_ name: Range<Int>) {
            switch count {
            case 0: first.0 = name
            case 1: first.1 = name
            case 2: first.2 = name
            case 3: first.3 = name
            default: others.append(name)
            }
            count += 1
        }

        mutating func removeAll(from start: Int) {
            count = start
            if !others.isEmpty { others.removeLast(others.count - max(count - 4, 0)) }
        }
    }

    private(set) var bytes: [UInt8] = []
    /// Whether only Foundation can write the value.
    private(set) var needsFoundation = false
    /// The innermost open level, and the levels around it. Most values have one level.
    private var innermost = Level()
    private var outer: [Level] = []
    private(set) var depth = 0
    /// The names that the open objects have so far.
    private var names = Names()
    private var namesAreASCII = true
    private var count = 0
    /// The most names of an object, because each name is compared with the others. Foundation
    /// writes objects with more names.
    private static let nameLimit = 64

    init() { bytes.reserveCapacity(256) }

    mutating func giveUp() { needsFoundation = true }

    // MARK: Containers

    /// Opens an object or an array.
    /// - Returns: the number of the container.
    mutating func open(isObject: Bool) -> Int {
        bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        count += 1
        if depth > 0 { outer.append(innermost) }
        depth += 1
        innermost = Level(isObject: isObject, number: count, firstName: names.count)
        return count
    }

    /// Closes all levels deeper than `depth`.
    mutating func close(to depth: Int) {
        while self.depth > depth {
            bytes.append(innermost.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
            self.depth -= 1
            // The outermost object's names need no removal, because nothing follows it.
            if self.depth > 0 { names.removeAll(from: innermost.firstName) }
            innermost = outer.popLast() ?? Level()
        }
    }

    private func number(at depth: Int) -> Int {
        depth == self.depth ? innermost.number : outer[depth - 1].number
    }

    /// Begins a member or an element of a container, which becomes the innermost open one.
    /// - Returns: `false` if Foundation has to write the value: the container is already closed,
    ///   the name is used twice, or the object has too many names.
    mutating func begin(_ container: Int, at depth: Int, name: String?) -> Bool {
        guard depth <= self.depth, number(at: depth) == container else {
            needsFoundation = true
            return false
        }
        close(to: depth)
        if !innermost.isEmpty { bytes.append(UInt8(ascii: ",")) }
        innermost.isEmpty = false
        guard let name else { return true }
        let start = bytes.count
        if !bytes.append(json: name) { namesAreASCII = false }
        // Of members with equal names Foundation keeps the last, but the first is already in the
        // text.
        guard names.count - innermost.firstName < Self.nameLimit, isNew(start..<bytes.count) else {
            needsFoundation = true
            return false
        }
        names.append(start..<bytes.count)
        bytes.append(UInt8(ascii: ":"))
        return true
    }

    /// Whether the innermost object has no other member with the name in this range of the text.
    private func isNew(_ name: Range<Int>) -> Bool {
        guard namesAreASCII else { return isNewCharacters(name) }
        for index in innermost.firstName..<names.count where isEqual(names[index], name) {
            return false
        }
        return true
    }

    private func isEqual(_ first: Range<Int>, _ second: Range<Int>) -> Bool {
        guard first.count == second.count else { return false }
        return unsafe bytes.withUnsafeBytes { bytes in
            unsafe bytes[first].elementsEqual(bytes[second])
        }
    }

    /// The same, but compared by canonical equivalence, as Foundation compares names.
    private func isNewCharacters(_ name: Range<Int>) -> Bool {
        let text = text(name)
        return !(innermost.firstName..<names.count).contains { self.text(names[$0]) == text }
    }

    private func text(_ name: Range<Int>) -> String? {
        let bytes = bytes
        return JSONEscapes.decoded(bytes.span.extracting(name.lowerBound + 1..<name.upperBound - 1))
    }

    // MARK: Scalars

    mutating func write(word: StaticString) { bytes.append(jsonWord: word) }
    mutating func write(_ value: some FixedWidthInteger) { bytes.append(json: value) }
    mutating func write(_ text: String) { bytes.append(json: text) }
    mutating func write(_ value: some BinaryFloatingPoint & CustomStringConvertible) {
        if !bytes.append(json: value) { giveUp() }
    }
}
