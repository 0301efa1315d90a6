#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Text that a peer has sent, compared byte by byte.
///
/// `String` compares by canonical equivalence, which sorts each run of combining characters: the
/// cost grows with the square of the run. Names in XML, tokens and paths are equal only if all
/// their characters are (Namespaces in XML 1.0 section 2.3, RFC 3986 section 6.2.1).
struct ByteText: Hashable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ByteText, right: ByteText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    func hash(into hasher: inout Hasher) {
        text.hashBytes(into: &hasher)
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes.
    func hasSameBytes(as other: String) -> Bool {
        let (some, others) = (utf8, other.utf8)
        guard some.count == others.count else { return false }
        let isSame = unsafe some.withContiguousStorageIfAvailable { some in
            unsafe others.withContiguousStorageIfAvailable { others -> Bool in
                guard let first = some.baseAddress, let second = others.baseAddress else {
                    return true
                }
                return unsafe memcmp(first, second, some.count) == 0
            }
        }
        return isSame.flatMap { $0 } ?? some.elementsEqual(others)
    }

    func hashBytes(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        let isDone: Void? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        guard isDone == nil else { return }
        for byte in utf8 { hasher.combine(byte) }
    }
}
