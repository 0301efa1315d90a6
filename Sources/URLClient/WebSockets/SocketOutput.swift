internal import HTTPParser

/// Bytes on their way to a socket of libcurl's.
///
/// TLS asks for a write that did not go to be repeated with the same bytes at the same place, so what
/// is being sent stays in a block that does not move until all of it has left.
@safe
struct SocketOutput: ~Copyable {
    private var waiting = ByteBuffer()
    private var block: UnsafeMutableRawBufferPointer?
    private var range = 0..<0
    /// Whether bytes have left since the last report.
    var isNews = false

    private static let blockLength = 32 << 10

    deinit {
        unsafe block?.deallocate()
    }

    /// How many bytes have not left.
    var count: Int { waiting.count + range.count }
    var isEmpty: Bool { count == 0 }

    mutating func write(_ body: (inout ByteBuffer) -> Void) { body(&waiting) }

    /// Drops all bytes: nothing can be sent any more.
    mutating func removeAll() {
        waiting.removeAll()
        range = 0..<0
        release()
    }

    mutating func append(_ bytes: [UInt8]) { waiting.append(bytes.span) }

    /// Sends as much as goes.
    /// - Returns: false when the connection has broken.
    mutating func send(by handle: EasyHandle) -> Bool {
        while !isEmpty {
            if range.isEmpty { fill() }
            guard let block = unsafe block else { return false }
            switch unsafe handle.send(UnsafeRawBufferPointer(rebasing: block[range])) {
            case .bytes(let count):
                range = range.lowerBound + count..<range.upperBound
                isNews = true
            case .later: return true
            case .ended: return false
            }
        }
        release()
        return true
    }

    /// A connection at rest has no memory for output.
    private mutating func release() {
        unsafe block?.deallocate()
        unsafe block = nil
        waiting.shrink(to: 0)
    }

    private mutating func fill() {
        let room = unsafe block ?? .allocate(byteCount: Self.blockLength, alignment: 16)
        unsafe block = unsafe room
        let count = min(waiting.count, room.count)
        unsafe room.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: waiting.unsafeBytes[..<count]))
        waiting.consume(count)
        range = 0..<count
    }
}
