internal import HTTPCodecs
internal import HTTPParser
package import ToolkitSystem

/// Writes a file piece by piece, outside of the event loop. Pieces are collected into large writes,
/// so that few changes of thread are needed.
package struct FileWriter: Sendable {
    /// Bytes that are collected before they are written.
    package static let batchBytes = 256 << 10
    /// Pieces are joined up to this size, so that small pieces do not need an array each.
    private static let joinedBytes = 16 << 10

    private let file: OpenFile
    private var batch: [[UInt8]] = []
    private var batched = 0
    /// The number of bytes passed to `write` so far, including those not yet written.
    package private(set) var count: Int64 = 0

    package init(_ file: OpenFile) {
        self.file = file
    }

    /// Appends a piece. Suspends while a full batch is written.
    /// - Throws: `CodecError` with `.fileNotWritable` if the disk is full, else `SystemError`.
    package mutating func write(_ piece: [UInt8]) async throws {
        guard !piece.isEmpty else { return }
        if let last = batch.indices.last, batch[last].count + piece.count <= Self.joinedBytes {
            batch[last] += piece
        } else {
            batch.append(piece)
        }
        batched += piece.count
        count += Int64(piece.count)
        if batched >= Self.batchBytes { try await flush() }
    }

    /// Writes the collected pieces.
    package mutating func flush() async throws {
        let pieces = batch
        batch = []
        batched = 0
        guard !pieces.isEmpty else { return }
        try await FileWork.run { [file] () throws(SystemError) in
            for piece in pieces {
                let region = unsafe piece.span.withUnsafeBytes { unsafe $0 }
                try unsafe Syscalls.write(file.descriptor, region)
            }
        }
    }
}

/// Runs work on files, on threads that may block.
package enum FileWork {
    /// Runs `body`, and reports a full disk as the error that becomes 507.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(SystemError) -> Result
    ) async throws -> Result {
        do {
            return try await BlockingPool.files.run(body)
        } catch let error as SystemError where error.isStorageFull {
            throw CodecError(.fileNotWritable, error.reason)
        }
    }
}
