internal import HTTPParser
package import HTTPServerCore
internal import ToolkitSystem

/// The event loops of connections in memory.
package enum InMemoryLoops {
    /// The settings that all connections of a loop share.
    private struct Kind: Hashable, Sendable {
        var limits: ParserLimits
        var leniency: ParserLeniency
        var serverName: String
    }

    private static let loops = Locked<[Kind: EventLoop]>([:])

    /// The loop for a configuration. Connections of the same kind share a loop, as in a server: a
    /// loop for each would use up threads and descriptors.
    package static func loop(for configuration: ServerConfiguration) -> EventLoop {
        let kind = Kind(
            limits: configuration.parserLimits, leniency: configuration.leniency,
            serverName: configuration.serverName)
        return loops.withLock { loops in
            if let loop = loops[kind] { return loop }
            guard
                let loop = try? EventLoop(
                    label: "test.loop", linger: 1, limits: kind.limits, leniency: kind.leniency,
                    serverName: kind.serverName, firesDeadlines: false)
            else { fatalError("no descriptors are left for the tests") }
            loops[kind] = loop
            return loop
        }
    }
}
