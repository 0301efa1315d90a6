public import HTTPServerCore
internal import ToolkitSystem

/// Answers requests with a closure that may block and runs on separate threads.
public struct BlockingHandler: Handler {
    private let body: @Sendable (Request) throws -> Response
    private let pool: BlockingPool

    /// Creates a handler.
    /// - Parameters:
    ///   - threads: the most calls that run at the same time; further ones wait.
    ///   - body: answers a request; it may block.
    public init(threads: Int = 16, _ body: @escaping @Sendable (Request) throws -> Response) {
        self.body = body
        pool = BlockingPool(threads: threads)
    }

    /// Answers when the closure returns. It is not called if the client disconnects before a thread
    /// is free.
    public func answer(_ request: Request) -> Answer {
        .later { [body, pool] in try await pool.runUnlessCancelled { try body(request) } }
    }
}
