internal import HTTPParser
package import HTTPServerCore
internal import HTTPServerKit
package import ToolkitSystem

/// A condition that was not met in time, and the record until then.
package struct MemoryTimeout: Error, CustomStringConvertible {
    package var awaited: String
    package var record: MemoryRecord

    package var description: String {
        "no \(awaited); closed: \(record.isClosed), received: \(record.received), "
            + "output: \(record.text)"
    }
}

/// A connection over a transport in memory. A test plays the client.
package final class MemoryConnection: Sendable {
    package let loop: EventLoop
    package let core: ServerCore
    private let transport: MemoryTransport

    /// How long a condition may take before the test fails. It does not measure speed.
    private static let patience = Duration.seconds(120)

    /// - Parameters:
    ///   - address: where the client is.
    ///   - loop: a loop to use instead of the one that connections of this configuration share.
    ///   - layers: the layers between the transport and the connection, from the transport up.
    ///   - input: the input that arrives first, before any other event.
    package init(
        _ handler: any Handler, configuration: ServerConfiguration = .test,
        peer: MemoryTransport.Peer = MemoryTransport.Peer(), address: PeerAddress = PeerAddress(),
        loop: EventLoop? = nil, layers: [any TransportLayer] = [],
        input: [MemoryTransport.Input] = []
    ) {
        let loop = loop ?? InMemoryLoops.loop(for: configuration)
        let core = ServerCore(configuration: configuration, handler: handler)
        let transport = MemoryTransport(loop, peer: peer)
        (self.loop, self.core, self.transport) = (loop, core, transport)
        loop.execute {
            let connection = Connection(
                loop: loop, core: core, peer: address, local: .unix("test"))
            transport.connection = connection
            var top: any Transport = transport
            for layer in layers { top = layer.transport(over: top, for: connection) }
            guard connection.open(top) else { return }
            transport.add(input)
        }
    }

    // MARK: Actions of the client

    /// Sends pieces, each with a separate event.
    package func send(_ pieces: String...) {
        feed(pieces.map { .bytes(Array($0.utf8)) })
    }

    /// Sends bytes, one event for each.
    package func sendEachByte(_ text: String) {
        feed(text.utf8.map { .bytes([$0]) })
    }

    package func feed(_ input: [MemoryTransport.Input]) {
        loop.execute { [transport] in transport.add(input) }
    }

    /// Ends the client's stream. The client may still read.
    package func end() { feed([.end]) }

    /// Resets the connection, as the poller reports it.
    package func hangUp() {
        loop.execute { [transport] in
            transport.connection?.handle(MemoryTransport.event(isHungUp: true))
        }
    }

    /// Reads this many more bytes of the output.
    package func read(_ bytes: Int) {
        loop.execute { [transport] in transport.allow(bytes) }
    }

    /// Sets how many sent bytes the client has not acknowledged.
    package func leave(unacknowledged count: Int) {
        loop.execute { [transport] in transport.unacknowledgedBytes = count }
    }

    /// Sends bytes that a layer above the socket cannot decode yet.
    package func send(unreadable count: Int64) {
        loop.execute { [transport] in transport.receivedBytes += count }
    }

    /// Makes sending fail once the client has received this many bytes.
    package func fail(at offset: Int, _ code: CInt) {
        loop.execute { [transport] in transport.fail(at: offset, code) }
    }

    // MARK: Observations of the test

    package var record: MemoryRecord { transport.recording.record }

    /// Waits until the record meets a condition.
    @discardableResult
    package func wait(
        for awaited: String, until isMet: @escaping @Sendable (MemoryRecord) -> Bool
    ) async throws -> MemoryRecord {
        let record = await transport.recording.record(within: Self.patience, when: isMet)
        guard let record else { throw MemoryTimeout(awaited: awaited, record: self.record) }
        return record
    }

    /// Waits until the output contains a text the given number of times.
    @discardableResult
    package func output(_ text: String, times: Int = 1) async throws -> MemoryRecord {
        try await wait(for: "output of \(text)") { $0.count(of: text) >= times }
    }

    /// Waits until the connection is closed.
    @discardableResult
    package func closed() async throws -> MemoryRecord {
        let record = try await wait(for: "close") { $0.isClosed }
        // The loop calls the handler after it has closed the transport, in the same turn.
        await onLoop { _ in }
        return record
    }

    /// Lets the loop finish all work that needs no further input.
    package func settle() async {
        for _ in 0..<12 { await onLoop { _ in } }
    }

    /// Calls `body` on the loop, with `nil` if the connection no longer exists.
    @discardableResult
    package func onLoop<Result: Sendable>(
        _ body: @escaping @Sendable (Connection?) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            loop.execute { [transport] in
                continuation.resume(returning: body(transport.connection))
            }
        }
    }

    /// The time left until the connection's deadline, in whole seconds, rounded up; `nil` without
    /// a deadline.
    package func secondsLeft() async -> Int? {
        await onLoop { [loop] connection in
            guard let connection, connection.deadline != .max else { return nil }
            guard connection.deadline > loop.now else { return 0 }
            return Int((connection.deadline - loop.now + 999_999_999) / 1_000_000_000)
        }
    }

    /// The time of the loop that connections of the test configuration share.
    package static func now() async -> UInt64 {
        let loop = InMemoryLoops.loop(for: .test)
        return await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: loop.now) }
        }
    }

    /// Whether the deadline is the given number of seconds after a time between `start` and now.
    /// A late call does not change the result.
    package func hasDeadline(in seconds: UInt64, since start: UInt64) async -> Bool {
        await onLoop { [loop] connection in
            guard let connection, connection.deadline != .max else { return false }
            let time = connection.deadline &- seconds &* 1_000_000_000
            return start <= time && time <= loop.now
        }
    }

    /// Lets the deadline pass.
    /// - Returns: whether there was one.
    @discardableResult
    package func expire() async -> Bool {
        await onLoop { connection in
            guard let connection, connection.deadline != .max else { return false }
            connection.deadline = .max
            connection.deadlineReached()
            return true
        }
    }
}

extension ServerConfiguration {
    /// The defaults, without the Server field.
    package static var test: Self {
        var configuration = ServerConfiguration()
        configuration.serverName = ""
        return configuration
    }

    /// The test configuration, changed.
    package static func test(_ change: (inout ServerConfiguration) -> Void) -> Self {
        var configuration = Self.test
        change(&configuration)
        return configuration
    }
}
