/// Decides which requests may start: by priority, then in order of arrival, within the limits of
/// each origin and of the session.
///
/// libcurl's queue ignores priorities. It stays empty, because libcurl gets no more requests than
/// can run.
final class Admission<Runner: LoopMember> {
    /// The requests of one origin: those that run, and those that wait.
    final class Slot {
        let origin: Origin
        var running = 0
        var waiting: [Runner] = []
        /// Whether the last response arrived over HTTP/2, where requests share a connection.
        var isHTTP2 = false
        /// The number of the last admission from this slot's queue.
        var lastServed = 0

        init(_ origin: Origin) {
            self.origin = origin
        }
    }

    private let configuration: ClientConfiguration
    private var slots: [Origin: Slot] = [:]
    /// Slots of requests that must use HTTP/1, at origins that answer with HTTP/2.
    private var soloSlots: [Origin: Slot] = [:]
    /// The slot of the last request: the next request often has the same origin.
    private var latest: Slot?
    private var waitingSlots: [Slot] = []
    /// How many runners wait in all slots.
    private var waitingCount = 0
    private var running = 0
    private var turn = 0

    init(_ configuration: ClientConfiguration) {
        self.configuration = configuration
    }

    /// The slot that counts a request.
    /// - Parameters:
    ///   - origin: the origin that the request is sent to.
    ///   - sharesConnections: whether the request may use HTTP/2.
    func slot(for origin: Origin, sharesConnections: Bool) -> Slot {
        let slot = slot(for: origin)
        guard slot.isHTTP2, !sharesConnections else { return slot }
        return Self.slot(for: origin, in: &soloSlots)
    }

    private func slot(for origin: Origin) -> Slot {
        if let latest, latest.origin == origin { return latest }
        let slot = Self.slot(for: origin, in: &slots)
        latest = slot
        return slot
    }

    private static func slot(for origin: Origin, in slots: inout [Origin: Slot]) -> Slot {
        if let slot = slots[origin] { return slot }
        // Slots without requests are removed once there are more than 1024.
        if slots.count > 1024 {
            slots = slots.filter { $0.value.running > 0 || !$0.value.waiting.isEmpty }
        }
        let slot = Slot(origin)
        slots[origin] = slot
        return slot
    }

    private func hasRoom(_ slot: Slot) -> Bool {
        let limit =
            slot.isHTTP2 ? configuration.streamsPerOrigin : configuration.connectionsPerOrigin
        return slot.running < max(limit, 1)
    }

    /// Counts a request of the slot as running. False if a limit is reached, or other requests wait
    /// in the slot.
    func take(_ slot: Slot) -> Bool {
        guard running < max(configuration.requestLimit, 1), hasRoom(slot),
            waitingCount == 0 || slot.waiting.isEmpty
        else {
            return false
        }
        running += 1
        slot.running += 1
        return true
    }

    /// Puts a runner into the slot's queue, after runners of the same or a higher priority.
    func wait(_ runner: Runner, in slot: Slot) {
        if slot.waiting.isEmpty { waitingSlots.append(slot) }
        waitingCount += 1
        let priority = runner.priority
        var index = slot.waiting.count
        while index > 0, slot.waiting[index - 1].priority < priority { index -= 1 }
        slot.waiting.insert(runner, at: index)
    }

    func leave(_ runner: Runner, _ slot: Slot) {
        let count = slot.waiting.count
        slot.waiting.removeAll { $0 === runner }
        waitingCount -= count - slot.waiting.count
        if slot.waiting.isEmpty { waitingSlots.removeAll { $0 === slot } }
    }

    /// Ends a running request of the slot.
    func release(_ slot: Slot) {
        running -= 1
        slot.running -= 1
    }

    /// Removes the next runner that may start from its queue, and counts it as running.
    func next() -> Runner? {
        guard waitingCount > 0, running < max(configuration.requestLimit, 1) else {
            return nil
        }
        var best: Slot?
        for slot in waitingSlots where hasRoom(slot) {
            guard let first = slot.waiting.first else { continue }
            guard let current = best, let other = current.waiting.first else {
                best = slot
                continue
            }
            let isBetter =
                first.priority > other.priority
                || (first.priority == other.priority && slot.lastServed < current.lastServed)
            if isBetter { best = slot }
        }
        guard let best else { return nil }
        turn += 1
        best.lastServed = turn
        let runner = best.waiting.removeFirst()
        waitingCount -= 1
        if best.waiting.isEmpty { waitingSlots.removeAll { $0 === best } }
        running += 1
        best.running += 1
        return runner
    }
}
