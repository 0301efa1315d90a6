internal import ToolkitSystem

/// A block of memory for content that will be copied elsewhere.
@safe
final class PageBlock {
    static let capacity = 1 << 20

    private let start: UnsafeMutableRawPointer
    private(set) var count = 0

    /// Creates an empty block; nil if there is no memory.
    init?() {
        guard let start = unsafe MappedPages.map(Self.capacity) else { return nil }
        unsafe self.start = start
    }

    deinit { unsafe MappedPages.unmap(start, Self.capacity) }

    var isFull: Bool { count == Self.capacity }

    /// Appends the bytes from `offset` on, as many as fit.
    /// - Returns: the number of appended bytes.
    func take(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        let length = min(bytes.count - offset, Self.capacity - count)
        unsafe UnsafeMutableRawBufferPointer(start: start + count, count: length).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
        count += length
        return length
    }

    /// Copies all bytes to `room`, from `offset` on.
    func copy(to room: UnsafeMutableBufferPointer<UInt8>, at offset: Int) {
        unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(room)[offset..<(offset + count)]
        ).copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
    }
}
