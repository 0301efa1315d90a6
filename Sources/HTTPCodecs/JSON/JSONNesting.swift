/// The open objects and arrays. A level costs one bit and no stack.
struct JSONNesting {
    private(set) var depth = 0
    /// Whether the innermost one is an object.
    private(set) var isInObject = false
    /// A bit for each outer level, 1 for an object: the innermost 64 in one word, the others in
    /// full words.
    private var outerBits: UInt64 = 0
    private var outerWords: [UInt64] = []

    @inline(__always)
    mutating func open(isObject: Bool) {
        if depth > 0, depth & 63 == 0 { outerWords.append(outerBits) }
        outerBits = outerBits << 1 | (isInObject ? 1 : 0)
        isInObject = isObject
        depth += 1
    }

    @inline(__always)
    mutating func close() {
        depth -= 1
        isInObject = outerBits & 1 == 1
        outerBits >>= 1
        if depth > 0, depth & 63 == 0 { outerBits = outerWords.removeLast() }
    }
}
