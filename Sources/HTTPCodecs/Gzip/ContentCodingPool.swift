internal import Synchronization

/// Keeps the streams of content encoders and decoders for reuse.
///
/// Setting up a compressor costs more than compressing a small response. Encoders and decoders with
/// a pool take a stream from it, and return it automatically when they are destroyed, on any
/// thread. One pool serves all codings, levels and threads. Taking and returning a stream use
/// atomic exchanges, without a lock.
///
/// ```swift
/// let pool = ContentCodingPool()
/// var encoder = try ContentEncoder(.gzip, level: 6, pool: pool)
/// ```
public final class ContentCodingPool: Sendable {
    let deflaters: ZStreamSlots
    let inflaters: ZStreamSlots

    /// Creates a pool.
    /// - Parameter idleLimit: the most idle streams of each direction, at least 0. An idle
    ///   compressor takes 260 KiB of memory, an idle decompressor 40 KiB.
    public init(idleLimit: Int = 8) {
        precondition(idleLimit >= 0, "a negative number of streams")
        deflaters = ZStreamSlots(count: idleLimit)
        inflaters = ZStreamSlots(count: idleLimit)
    }

    /// The number of idle streams of both directions together.
    public var idleCount: Int { deflaters.occupiedCount + inflaters.occupiedCount }
}

/// Slots for idle streams, each with one stream or none.
@safe
struct ZStreamSlots: ~Copyable, @unchecked Sendable {
    /// The addresses of the streams, 0 for none.
    private let slots: UnsafeMutableBufferPointer<Atomic<UInt>>

    init(count: Int) {
        unsafe slots = .allocate(capacity: count)
        for index in 0..<count {
            unsafe slots.initializeElement(at: index, to: Atomic(0))
        }
    }

    deinit {
        while let storage = unsafe take() {
            unsafe ZStream.destroy(storage)
        }
        unsafe slots.deinitialize().deallocate()
    }

    /// Takes the first stream in the slots; nil if they are empty.
    func take() -> UnsafeMutablePointer<ZStream.Storage>? {
        for index in unsafe slots.indices {
            guard unsafe slots[index].load(ordering: .relaxed) != 0 else { continue }
            let address = unsafe slots[index].exchange(0, ordering: .acquiring)
            if address != 0 { return unsafe UnsafeMutablePointer(bitPattern: address) }
        }
        return nil
    }

    /// Keeps an idle stream; false if no slot is empty.
    func put(_ storage: UnsafeMutablePointer<ZStream.Storage>) -> Bool {
        let address = UInt(bitPattern: storage)
        for index in unsafe slots.indices {
            let (exchanged, _) = unsafe slots[index].compareExchange(
                expected: 0, desired: address, successOrdering: .releasing,
                failureOrdering: .relaxed)
            if exchanged { return true }
        }
        return false
    }

    var occupiedCount: Int {
        var count = 0
        for index in unsafe slots.indices {
            if unsafe slots[index].load(ordering: .relaxed) != 0 { count += 1 }
        }
        return count
    }
}
