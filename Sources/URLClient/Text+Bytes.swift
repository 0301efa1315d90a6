internal import HTTPCodecs

// Text from a peer is compared by its bytes. Swift compares strings in canonical form and sorts
// runs of combining characters: that takes quadratic time in a length which the peer chooses.
extension StringProtocol {
    /// Whether the text begins with these bytes.
    func begins(with start: StaticString) -> Bool {
        let bytes = unsafe UnsafeBufferPointer(
            start: start.utf8Start, count: start.utf8CodeUnitCount)
        return unsafe utf8.starts(with: bytes)
    }
}

extension String? {
    /// Whether both have the same bytes, or both are nil.
    func hasBytes(of other: String?) -> Bool {
        switch (self, other) {
        case (let one?, let two?): one.hasBytes(of: two)
        case (nil, nil): true
        default: false
        }
    }
}
