internal import HTTPCodecs
internal import HTTPParser

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

extension HTTPFields {
    /// Whether the fields are known to be equal. False if a value is longer than 1 KiB, because
    /// comparing it costs more than it saves.
    func isKnownSame(as other: HTTPFields) -> Bool {
        guard count == other.count else { return false }
        for index in indices {
            guard self[index].value.utf8.count <= 1_024, self[index].name == other[index].name,
                self[index].value.hasBytes(of: other[index].value)
            else { return false }
        }
        return true
    }
}
