/// A handler's closure that is called when the content of its request is complete.
struct ContentCollector {
    /// The request as it arrived.
    let request: Request
    let limit: Int
    let body: @Sendable (Result<[UInt8], any Error>) throws -> Answer
}
