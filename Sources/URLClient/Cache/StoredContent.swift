internal import Dispatch

/// The content of a stored response.
package enum StoredContent: Sendable {
    case bytes([UInt8])
    /// Content that is too long for memory is read piece by piece.
    case file(StoredFile)

    /// How many bytes it has.
    package var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.count
        }
    }
}

/// A file of the cache that stays readable, even when the cache has removed it meanwhile.
package final class StoredFile: Sendable {
    /// How many bytes are read at a time.
    static var pieceSize: Int { 256 << 10 }

    let count: Int64
    private let file: OpenStoreFile
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - file: an open file of so many bytes.
    ///   - queue: where it may be waited for the disk.
    init(_ file: OpenStoreFile, count: Int64, queue: DispatchQueue) {
        (self.file, self.count, self.queue) = (file, count, queue)
    }

    /// Some bytes from an offset on; none if they cannot be read any more.
    func piece(at offset: Int64) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read(at: offset)) }
        }
    }

    /// The same on a thread that may wait.
    func read(at offset: Int64) -> [UInt8] {
        let limit = Int(min(Int64(Self.pieceSize), count - offset))
        return (try? file.read(at: offset, upTo: limit)) ?? []
    }
}
