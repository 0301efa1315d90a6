#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension UnsafeRawBufferPointer {
    /// Whether both have the same bytes. `memcmp` is faster than a comparison byte by byte.
    package func hasBytes(of other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let start = baseAddress, let other = other.baseAddress else { return true }
        return unsafe memcmp(start, other, count) == 0
    }
}

/// Comparisons of text that a peer has sent.
///
/// `==` and hashing use the canonical form of a text, and sort runs of combining marks in quadratic
/// time. The methods here compare bytes.
extension String {
    /// Whether both have the same bytes.
    package func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { one in
            unsafe other.utf8.withContiguousStorageIfAvailable { other in
                unsafe UnsafeRawBufferPointer(one).hasBytes(of: UnsafeRawBufferPointer(other))
            }
        }
        return isSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }

    /// Adds the bytes to a hash.
    package func hashBytes(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        let isDone: Void? = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
        guard isDone == nil else { return }
        for byte in utf8 { hasher.combine(byte) }
    }

    /// Whether this equals the given ASCII text, ignoring the case of letters.
    /// - Parameter text: ASCII in lower case.
    package func isASCII(_ text: StaticString) -> Bool {
        guard utf8.count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { text in
            unsafe zip(utf8, text).allSatisfy { byte, wanted in
                let isUpper = 0x41...0x5A ~= byte
                return (isUpper ? byte | 0x20 : byte) == wanted
            }
        }
    }
}
