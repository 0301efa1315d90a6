internal import Dispatch
internal import ToolkitSystem

/// The content of a stored response.
package enum StoredContent: Sendable {
    case bytes([UInt8])
    /// Content that is too long for memory is read piece by piece.
    case file(StoredFile)

    /// The length in bytes.
    package var count: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.count
        }
    }
}

/// A file of the cache, which stays readable even after the cache has removed it.
package final class StoredFile: Sendable {
    /// The most bytes that are read at a time.
    static var pieceSize: Int { 256 << 10 }

    let count: Int64
    private let file: OpenFile
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - file: an open file of `count` bytes.
    ///   - queue: the queue on which the file is read.
    init(_ file: OpenFile, count: Int64, queue: DispatchQueue) {
        (self.file, self.count, self.queue) = (file, count, queue)
    }

    /// The bytes from an offset on, at most `pieceSize`; empty if they cannot be read any more.
    func piece(at offset: Int64) async -> [UInt8] {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read(at: offset)) }
        }
    }

    /// The bytes from an offset on, as `piece(at:)`, read on the calling thread.
    func read(at offset: Int64) -> [UInt8] {
        let limit = Int(min(Int64(Self.pieceSize), count - offset))
        return (try? file.content(at: offset, count: limit)) ?? []
    }
}
