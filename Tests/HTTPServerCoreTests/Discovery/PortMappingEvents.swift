#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport

    extension AsyncStream<NATPortMappingEvent> {
        /// The next event.
        func event() async throws -> NATPortMappingEvent {
            for await event in self { return event }
            throw Program.Failure("no event")
        }

        /// The mapping of the next event; any other event is an error.
        func mapping() async throws -> NATMapping {
            let event = try await event()
            guard case .mapped(let mapping) = event else { throw Program.Failure("\(event)") }
            return mapping
        }
    }
#endif
