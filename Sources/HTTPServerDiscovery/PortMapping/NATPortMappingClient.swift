#if os(Linux)
    /// One protocol by which a gateway maps ports. It is used on the queue of a session, and calls
    /// back there.
    protocol NATPortMappingClient: AnyObject, Sendable {
        /// Asks for a mapping, or for a longer life of the one that is there. The completion is called
        /// once, unless `cancel` comes first.
        func map(
            port: UInt16, wish: UInt16, seconds: UInt32,
            then done: @escaping @Sendable (Result<NATMapping, NATPortMappingError>) -> Void)

        /// Takes a mapping back; the completion is called once, after two seconds at the latest.
        func remove(_ mapping: NATMapping, then done: @escaping @Sendable () -> Void)

        /// Gives up the request for a mapping; its completion is not called.
        func cancel()

        /// Takes back what the gateway may have mapped for a request whose answer did not come; the
        /// completion is called once, after two seconds at the latest.
        func takeBackUnanswered(then done: @escaping @Sendable () -> Void)
    }
#endif
