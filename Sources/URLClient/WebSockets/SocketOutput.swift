internal import HTTPParser

/// The output buffer of a socket that libcurl has connected.
///
/// TLS requires a write that could not be completed to be repeated with the same bytes at the same
/// address. The bytes being sent therefore stay in a block that does not move until all of them
/// were sent.
@safe
struct SocketOutput: ~Copyable {
    private var waiting = ByteBuffer()
    private var block: UnsafeMutableRawBufferPointer?
    private var range = 0..<0
    /// Whether bytes were sent since the last report.
    var isNews = false

    private static let blockLength = 32 << 10

    deinit {
        unsafe block?.deallocate()
    }

    /// How many bytes were not sent yet.
    var count: Int { waiting.count + range.count }
    var isEmpty: Bool { count == 0 }

    mutating func write(_ body: (inout ByteBuffer) -> Void) { body(&waiting) }

    /// Drops all bytes after the connection broke.
    mutating func removeAll() {
        waiting.removeAll()
        range = 0..<0
        release()
    }

    mutating func append(_ bytes: [UInt8]) { waiting.append(bytes.span) }

    /// Sends as many bytes as the socket accepts.
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

    /// Frees the memory: an idle connection has no output buffer.
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
