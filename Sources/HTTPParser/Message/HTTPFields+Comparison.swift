extension HTTPFields {
    /// Whether the fields are known to have the same names and the same bytes as values. Copies of
    /// the same fields are; others are not if a value is longer than 1 KiB, because comparing it
    /// costs more than it saves.
    package func isKnownSame(as other: HTTPFields) -> Bool {
        guard storage.count == other.storage.count else { return false }
        if sharesStorage(with: other) { return true }
        return zip(storage, other.storage).allSatisfy { field, its in
            field.value.utf8.count <= 1_024 && field.name == its.name
                && field.value.utf8.elementsEqual(its.value.utf8)
        }
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
