#if os(Linux)
    /// One protocol by which a gateway maps ports. It is used on the queue of a session, and calls
    /// completions there.
    protocol NATPortMappingClient: AnyObject, Sendable {
        /// Requests a mapping, or renews an existing one. The completion is called once, unless
        /// `cancel` is called first.
        func map(
            port: UInt16, wish: UInt16, seconds: UInt32,
            then done: @escaping @Sendable (Result<NATMapping, NATPortMappingError>) -> Void)

        /// Removes a mapping. The completion is called once, after at most two seconds.
        func remove(_ mapping: NATMapping, then done: @escaping @Sendable () -> Void)

        /// Cancels the request for a mapping; its completion is not called.
        func cancel()

        /// Removes a mapping that the gateway may have made for an unanswered request. The
        /// completion is called once, after at most two seconds.
        func takeBackUnanswered(then done: @escaping @Sendable () -> Void)
    }
#endif
