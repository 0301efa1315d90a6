extension HTTPFields {
    /// Whether the fields are known to have the same names and the same bytes as values. False if a
    /// value is longer than 1 KiB, because comparing it costs more than it saves.
    package func isKnownSame(as other: HTTPFields) -> Bool {
        guard storage.count == other.storage.count else { return false }
        if sharesStorage(with: other) { return true }
        var index = 0
        while index < storage.count {
            guard storage[index].value.isKnownSame(as: other.storage[index].value),
                storage[index].name == other.storage[index].name
            else { return false }
            index += 1
        }
        return true
    }

    /// Whether both are copies of the same fields.
    private func sharesStorage(with other: HTTPFields) -> Bool {
        unsafe storage.withUnsafeBufferPointer { own in
            unsafe other.storage.withUnsafeBufferPointer {
                unsafe own.baseAddress == $0.baseAddress
            }
        }
    }
}

extension String {
    fileprivate func isKnownSame(as other: String) -> Bool {
        let count = utf8.count
        guard count == other.utf8.count, count <= 1_024 else { return false }
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { one in
            unsafe other.utf8.withContiguousStorageIfAvailable { other in
                unsafe Self.areSame(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer(other))
            }
        }
        return isSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }

    /// Compares buffers of the same length, eight bytes at a time.
    private static func areSame(
        _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer
    ) -> Bool {
        var position = 0
        while one.count - position >= 8 {
            let (left, right) = unsafe (
                one.loadUnaligned(fromByteOffset: position, as: UInt64.self),
                other.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            )
            guard left == right else { return false }
            position += 8
        }
        while position < one.count {
            guard unsafe one[position] == other[position] else { return false }
            position += 1
        }
        return true
    }
}
