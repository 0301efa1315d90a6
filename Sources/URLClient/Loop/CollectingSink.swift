internal import HTTPCodecs

/// Collects the content in memory, without a second copy of all of it.
///
/// A growing array exists twice while it is copied. From a mebibyte on, the array therefore reserves all
/// of the announced length, which uses no memory before it is written. If no length was announced, the
/// rest is kept in blocks, each of which is released as soon as it has been copied to the array.
final class CollectingSink: ContentSink {
    private static let usualLength = 1 << 20
    /// The longest announced length that is reserved, because a server can announce any. Longer
    /// content is kept in blocks.
    private static let longestReserved: Int64 = 256 << 20

    private let limit: Int64
    @exclusivity(unchecked)
    private var content: [UInt8] = []
    @exclusivity(unchecked)
    private var blocks: [PageBlock] = []
    private var count: Int64 = 0
    private var announced: Int?

    init(limit: Int64) {
        self.limit = limit
    }

    override func begin(_ response: ClientResponse) -> ClientError? {
        if count > 0 { unsafe (content, blocks, count) = ([], [], 0) }
        announced = nil
        guard let expected = response.expectedLength, expected > 0 else { return nil }
        guard expected <= limit else {
            return ClientError(.contentTooLong, "more than \(limit) bytes")
        }
        announced = expected <= Self.longestReserved ? Int(expected) : nil
        // Reserve no more than this at first: the announced content may never arrive.
        unsafe content.reserveCapacity(Int(min(expected, Int64(Self.usualLength))))
        return nil
    }

    override func take(_ bytes: UnsafeRawBufferPointer) -> Answer {
        count += Int64(bytes.count)
        guard count <= limit else {
            return .failed(ClientError(.contentTooLong, "more than \(limit) bytes"))
        }
        if count > Int64(Self.usualLength) {
            guard let announced else { return unsafe keep(bytes) }
            unsafe content.reserveCapacity(announced)
        }
        unsafe content.append(contentsOf: bytes)
        return .taken
    }

    private func keep(_ bytes: UnsafeRawBufferPointer) -> Answer {
        var taken = 0
        while taken < bytes.count {
            if unsafe blocks.last?.isFull ?? true {
                guard let block = PageBlock() else {
                    return .failed(ClientError(.internalFailure, "no memory for the content"))
                }
                unsafe blocks.append(block)
            }
            taken += unsafe blocks[blocks.count - 1].take(bytes, from: taken)
        }
        return .taken
    }

    override var collected: [UInt8] {
        if unsafe !blocks.isEmpty { join() }
        return unsafe content
    }

    private func join() {
        var left = unsafe Array(blocks.reversed())
        unsafe blocks = []
        let head = unsafe content
        unsafe content = []
        let length = left.reduce(head.count) { $0 + $1.count }
        unsafe content = [UInt8](unsafeUninitializedCapacity: length) { room, count in
            unsafe head.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(room).copyMemory(from: $0)
            }
            count = head.count
            while let block = left.popLast() {
                unsafe block.copy(to: room, at: count)
                count += block.count
            }
        }
    }
}
