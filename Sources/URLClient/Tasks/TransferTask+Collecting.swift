internal import HTTPCodecs
internal import ToolkitSystem

// Support for callers that start a task and wait for its complete response.
extension TransferTask {
    var isOver: Bool { shared.withLock { $0.isOver } }

    /// Waits for the end of the task. The lock ensures that the waiter is resumed once: here, or by
    /// ``complete(_:_:_:)``.
    func whenOver() async {
        await Waiter<Void>.wait { waiter in
            let isOver = shared.withLock { shared in
                if !shared.isOver { shared.collector = waiter }
                return shared.isOver
            }
            if isOver { waiter.resume() }
        }
    }

    /// The content and the response of a task that is over.
    func takeOutcome() throws(ClientError) -> ([UInt8], ClientResponse) {
        let (error, response, content) = shared.withLock { shared in
            defer { shared.content = [] }
            return (shared.error, shared.response, shared.content)
        }
        if let error { throw error }
        guard let response else { throw ClientError(.internalFailure, "no response") }
        return (content, response)
    }
}
