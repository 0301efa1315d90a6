internal import ToolkitSystem

/// The pings of a program that wait for their pongs, in order. The owner confines this value to a
/// loop.
struct PongWaits {
    typealias Waiting = WaitingReader<Void>

    private struct Wait {
        var number: UInt64
        /// The number of pings that the connection had written by itself when this ping was
        /// written.
        var precedingCount = UInt64.max
        var waiting: Waiting
    }

    private var waits: [Wait] = []
    private var lastNumber: UInt64 = 0

    /// Lets a task wait for the pong of a ping that is about to be sent.
    /// - Returns: the payload of the ping, which no other ping of the connection has.
    mutating func begin(_ reader: Waiting.Reader, _ wait: Waiting.Wait) -> [UInt8] {
        lastNumber &+= 1
        var waiting = Waiting()
        waiting.begin(reader, wait)
        waits.append(Wait(number: lastNumber, waiting: waiting))
        return Self.payload(lastNumber)
    }

    private static func payload(_ number: UInt64) -> [UInt8] { Array("ping \(number)".utf8) }

    private static func number(_ payload: [UInt8]) -> UInt64? {
        guard let digits = payload.lastIndex(of: UInt8(ascii: " ")).map({ payload[($0 + 1)...] }),
            let number = UInt64(String(decoding: digits, as: UTF8.self)),
            Self.payload(number) == payload
        else { return nil }
        return number
    }

    /// Takes a pong. It also answers the pings before its own ping (RFC 6455 section 5.5.3).
    mutating func received(_ payload: [UInt8]) {
        // The wait for this ping itself may have been cancelled.
        guard let number = Self.number(payload), number <= lastNumber else { return }
        resumeFirst(waits.prefix { $0.number <= number }.count)
    }

    /// Records that the last ping was written after `count` pings of the connection itself.
    mutating func written(after count: UInt64) {
        guard let last = waits.indices.last, waits[last].number == lastNumber else { return }
        waits[last].precedingCount = count
    }

    /// Records that the first `count` pings of the connection itself were answered, and so are all
    /// pings before the last of them.
    mutating func answered(_ count: UInt64) {
        resumeFirst(waits.prefix { $0.precedingCount < count }.count)
    }

    private mutating func resumeFirst(_ count: Int) {
        guard count > 0 else { return }
        let answered = waits[..<count]
        waits.removeFirst(count)
        for var wait in answered { wait.waiting.take()?.resume(returning: ()) }
    }

    mutating func cancel(_ wait: Waiting.Wait) {
        for index in waits.indices {
            guard let reader = waits[index].waiting.cancel(wait) else { continue }
            waits.remove(at: index)
            return reader.resume(throwing: CancellationError())
        }
        var none = Waiting()
        _ = none.cancel(wait)
    }

    /// Ends all waits with an error.
    mutating func fail(_ error: any Error) {
        let ended = waits
        waits = []
        for var wait in ended { wait.waiting.take()?.resume(throwing: error) }
    }
}
