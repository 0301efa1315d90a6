internal import HTTPParser

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

// Text from a peer is compared by its bytes. Swift compares strings in canonical form and sorts
// runs of combining characters: that takes quadratic time in a length which the peer chooses.
extension StringProtocol {
    /// Whether both have the same bytes.
    func isIdentical(to other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether the text begins with these bytes.
    func begins(with start: StaticString) -> Bool {
        let bytes = unsafe UnsafeBufferPointer(
            start: start.utf8Start, count: start.utf8CodeUnitCount)
        return unsafe utf8.starts(with: bytes)
    }
}

extension String {
    /// Whether both have the same bytes.
    func isIdentical(to other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // One `memcmp` of the storage; the generic comparison goes byte by byte.
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { one in
            unsafe other.utf8.withContiguousStorageIfAvailable { two -> Bool in
                guard let start = one.baseAddress, let other = two.baseAddress else { return true }
                return unsafe memcmp(start, other, one.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension String? {
    /// Whether both have the same bytes, or both are nil.
    func isIdentical(to other: String?) -> Bool {
        switch (self, other) {
        case (let one?, let two?): one.isIdentical(to: two)
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
                self[index].value.isIdentical(to: other[index].value)
            else { return false }
        }
        return true
    }
}
