/// Memory for content that is on its way elsewhere. It goes back to the system as soon as it is let
/// go, which no allocator promises.
@safe
final class PageBlock {
    static let capacity = 1 << 20

    private let start: UnsafeMutableRawPointer
    private(set) var count = 0

    /// Nil if there is no memory.
    init?() {
        guard let start = unsafe System.mapPages(Self.capacity) else { return nil }
        unsafe self.start = start
    }

    deinit { unsafe System.unmapPages(start, Self.capacity) }

    var isFull: Bool { count == Self.capacity }

    /// Takes what there is room for.
    /// - Returns: how much that was.
    func take(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> Int {
        let length = min(bytes.count - offset, Self.capacity - count)
        unsafe UnsafeMutableRawBufferPointer(start: start + count, count: length).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
        count += length
        return length
    }

    /// Gives all of it away.
    func copy(to room: UnsafeMutableBufferPointer<UInt8>, at offset: Int) {
        unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(room)[offset..<(offset + count)]
        ).copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
    }
}
