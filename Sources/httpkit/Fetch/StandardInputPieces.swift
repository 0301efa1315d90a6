import Dispatch
import URLClient

/// Standard input as the content of a request, piece by piece. It can be read only once.
struct StandardInputPieces: AsyncSequence {
    /// The most bytes that `all()` keeps in memory.
    private static let limit = 256 << 20

    struct AsyncIterator: AsyncIteratorProtocol {
        /// Reading waits for the writer, so it has a separate thread.
        private let queue = DispatchQueue(label: "httpkit.input")

        func next() async throws -> [UInt8]? {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(with: Result { try StandardInputPieces.piece() })
                }
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }

    /// Waits for the next bytes; nil at the end.
    private static func piece() throws -> [UInt8]? {
        var input = StandardInput()
        var piece: [UInt8] = []
        let hasMore = try input.read { span in
            unsafe span.withUnsafeBufferPointer { unsafe piece.append(contentsOf: $0) }
        }
        return hasMore ? piece : nil
    }

    /// Reads standard input to its end.
    static func all() throws -> [UInt8] {
        var content: [UInt8] = []
        var input = StandardInput()
        while try input.read({ span in
            guard span.count <= limit - content.count else {
                throw ClientError(.contentTooLong, "more than \(limit) bytes; -T - has no limit")
            }
            unsafe span.withUnsafeBufferPointer { unsafe content.append(contentsOf: $0) }
        }) {}
        return content
    }
}
