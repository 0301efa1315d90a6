internal import CCurlShims

/// The sockets that libcurl waits for, and those that rest.
///
/// Any thread may change it, one at a time, also while the loop's thread waits; nobody has to be
/// woken for that. A connection that rests stays on the list, so that the next request over it costs
/// no call: it is taken off when something happens to it that nobody waits for.
@safe
final class SocketPoller: @unchecked Sendable {
    private struct Entry {
        /// The events that the kernel watches it for.
        var listed: SocketEvents = []
        /// The events that libcurl waits for.
        var wanted: SocketEvents = []
        /// Whether the poller hears of it when it is closed.
        var isOwn = false
        /// The transfer over it that libcurl has told of last; 0 for none.
        var user: UInt = 0
        /// When something has happened to it last.
        var lastEvent: Int64 = 0
        /// Whether one answer after the other comes over it, in HTTP/1, and nothing between them.
        var isPlain = false
        /// The turn in which it is known that nothing has come while it is idle.
        var quietTurn: UInt64 = 0
    }

    /// The most events that a wait tells of.
    static var capacity: Int { SocketList.capacity }
    private let list: SocketList
    @exclusivity(unchecked)
    private var entries: [Entry] = []
    /// The descriptors that somebody else waits for meanwhile; the kernel's list is not changed.
    @exclusivity(unchecked)
    private var held: [CInt] = []
    private(set) var isHeld = false
    @exclusivity(unchecked)
    private var waited: [SocketEvent] = []
    /// The connections of HTTP/1 that are kept for later requests.
    @exclusivity(unchecked)
    private var idle: [CInt] = []
    /// The sockets that have to be looked at.
    @exclusivity(unchecked)
    private var unseen: [CInt] = []
    /// Counts from one wait to the next. Within a turn nothing is looked at twice.
    private(set) var turn: UInt64 = 1
    /// The turn whose wait has told of all that is on the kernel's list.
    private var toldTurn: UInt64 = 0

    init?() {
        guard let list = SocketList() else { return nil }
        self.list = list
    }

    /// Waits until something happens or the time is over.
    /// - Returns: how many events there are for ``event(_:)``; -1 when a signal has ended it.
    func wait(milliseconds: Int32) -> Int { list.wait(milliseconds: milliseconds) }

    /// An event of the last wait; nil where it only was woken.
    func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? { list.event(index) }

    /// Ends the wait, or the next one.
    func wake() { list.wake() }

    // MARK: what libcurl tells

    /// libcurl waits for other events than before; for none any more if the set is empty.
    func want(_ target: CInt, _ wanted: SocketEvents) {
        guard target >= 0 else { return }
        let index = Int(target)
        if unsafe index >= entries.count {
            unsafe entries += Array(repeating: Entry(), count: index + 16 - entries.count)
        }
        unsafe entries[index].wanted = wanted
        guard !isHeld else {
            if unsafe !held.contains(target) { unsafe held.append(target) }
            return
        }
        update(target)
    }

    private func update(_ target: CInt) {
        let entry = unsafe entries[Int(target)]
        guard entry.wanted != entry.listed, !(entry.wanted.isEmpty && entry.isOwn) else { return }
        unsafe entries[Int(target)].listed = entry.wanted
        list.change(target, to: entry.wanted, from: entry.listed)
    }

    // MARK: waiting elsewhere

    /// From now on what libcurl waits for is for ``waitForHeld(nanoseconds:_:)``.
    /// - Parameter all: whether that is so for what it waits for already.
    func hold(all: Bool) {
        isHeld = true
        guard all else { return }
        for index in unsafe entries.indices where unsafe !entries[index].wanted.isEmpty {
            unsafe held.append(CInt(index))
        }
    }

    /// Gives what is left of it to the kernel's list.
    func letGo() {
        isHeld = false
        for target in unsafe held { update(target) }
        unsafe held.removeAll(keepingCapacity: true)
    }

    /// Waits only for the descriptors that are held, until ``wake()`` at the latest.
    /// - Returns: false when it was woken, or has nothing to wait for, or the system cannot do it.
    func waitForHeld(
        nanoseconds: Int64, blocks: Bool, _ body: (CInt, SocketEvents) -> Void
    ) -> Bool {
        unsafe waited.removeAll(keepingCapacity: true)
        guard SocketList.waitsForSome else { return false }
        for target in unsafe held {
            let entry = unsafe entries[Int(target)]
            // The loop's thread shall not be woken for it, too.
            if !entry.listed.isEmpty {
                unsafe entries[Int(target)].listed = []
                list.change(target, to: [], from: entry.listed)
            }
            guard !entry.wanted.isEmpty else { continue }
            unsafe waited.append(SocketEvent(descriptor: target, events: entry.wanted))
        }
        guard unsafe !waited.isEmpty else { return false }
        let wasWoken = unsafe list.wait(
            for: &waited, nanoseconds: max(0, nanoseconds), blocks: blocks)
        beginTurn()
        for event in unsafe waited where !event.events.isEmpty {
            body(event.descriptor, event.events)
        }
        return !wasWoken
    }

    /// A socket was made; `closes` will report its end.
    func opened(_ target: CInt) {
        want(target, [])
        guard target >= 0 else { return }
        unsafe entries[Int(target)] = Entry(isOwn: true)
    }

    /// A socket is about to be closed, whereby the kernel forgets it.
    func closes(_ target: CInt) {
        guard target >= 0, unsafe Int(target) < entries.count else { return }
        leaveIdle(target)
        unsafe entries[Int(target)] = Entry()
    }

    /// Whether libcurl waits for an event; one that it does not wait for does not come again.
    /// - Parameter dropsIdle: whether an idle connection is given up then.
    func isWanted(_ target: CInt, dropsIdle: Bool) -> Bool {
        guard unsafe Int(target) < entries.count else { return false }
        let entry = unsafe entries[Int(target)]
        guard entry.wanted.isEmpty else { return true }
        // The event may be an old one, of an answer that was read meanwhile.
        if dropsIdle, unsafe idle.contains(target), unsafe http_any_readable([target], 1) != 0 {
            drop(target)
            return false
        }
        if !entry.listed.isEmpty {
            unsafe entries[Int(target)].listed = []
            list.change(target, to: [], from: entry.listed)
        }
        return false
    }

    // MARK: idle connections

    /// Whether a transfer is known to use a socket.
    func isUsed(_ target: CInt, by user: UInt) -> Bool {
        guard target >= 0, unsafe Int(target) < entries.count else { return true }
        return unsafe entries[Int(target)].user == user
    }

    /// A transfer uses a socket.
    func use(_ target: CInt, by user: UInt) {
        if unsafe entries[Int(target)].user == 0 { leaveIdle(target) }
        unsafe entries[Int(target)].user = user
    }

    /// Something has happened to a socket.
    func noteEvent(_ target: CInt, at time: Int64) {
        guard target >= 0, unsafe Int(target) < entries.count else { return }
        unsafe entries[Int(target)].lastEvent = time
    }

    /// When something has happened last to the socket that a transfer uses; 0 where that is not known.
    func lastEvent(_ target: CInt, of user: UInt) -> Int64 {
        guard target >= 0, isUsed(target, by: user) else { return 0 }
        return unsafe entries[Int(target)].lastEvent
    }

    /// An answer of HTTP/1 comes over the socket of a transfer.
    func notePlain(_ target: CInt, of user: UInt) {
        guard target >= 0, isUsed(target, by: user) else { return }
        unsafe entries[Int(target)].isPlain = true
    }

    /// A transfer is over: its connection, if it is still there, is idle.
    /// - Parameter target: the last socket that libcurl reported for it; others were attempts to connect.
    func release(_ target: CInt, from user: UInt) {
        guard target >= 0 else { return }
        var target = target
        if !isUsed(target, by: user) {
            let other = unsafe entries.firstIndex { $0.user == user }
            guard let other else { return }
            target = CInt(other)
        }
        unsafe entries[Int(target)].user = 0
        guard unsafe entries[Int(target)].isPlain else { return }
        // The end of its answer was read just now, and what stood behind it libcurl has seen.
        unsafe entries[Int(target)].quietTurn = turn
        unsafe idle.append(target)
    }

    private func leaveIdle(_ target: CInt) {
        guard let index = unsafe idle.lastIndex(of: target) else { return }
        unsafe idle.remove(at: index)
    }

    /// Another turn begins: some time has passed, in which something may have come.
    /// - Parameter waited: the turn before a wait of the kernel's list that has told of everything,
    ///   and in which nothing else was done; nil without one.
    func beginTurn(after waited: UInt64? = nil) {
        let isTold = waited == turn
        turn &+= 1
        if isTold { toldTurn = turn }
    }

    /// Gives the idle connections up of which the last wait tells that something has come. Others
    /// may be used as soon as the first event is acted on.
    func dropTold(_ count: Int, dropsIdle: Bool) {
        guard unsafe !idle.isEmpty else { return }
        for index in 0..<max(0, count) {
            if let (target, _) = event(index), unsafe idle.contains(target) {
                _ = isWanted(target, dropsIdle: dropsIdle)
            }
        }
    }

    /// Whether nothing has come over an idle connection, without asking the kernel: it became idle in
    /// this turn, was looked at in it, or was on the kernel's list during the wait before it.
    private func isQuiet(_ target: CInt) -> Bool {
        let entry = unsafe entries[Int(target)]
        return entry.quietTurn == turn || toldTurn == turn && entry.listed.contains(.read)
    }

    /// Gives idle connections up over which something has come: it belongs to no request, and would
    /// be taken for the answer to the next one (RFC 9112 section 6.3). Before a connection is used
    /// again libcurl looks for its end alone.
    func dropSpoilt() {
        guard unsafe !idle.isEmpty else { return }
        unsafe unseen.removeAll(keepingCapacity: true)
        for target in unsafe idle where !isQuiet(target) {
            unsafe entries[Int(target)].quietTurn = turn
            unsafe unseen.append(target)
        }
        guard unsafe !unseen.isEmpty, unsafe http_any_readable(unseen, CInt(unseen.count)) != 0
        else { return }
        for target in unsafe unseen {
            // `poll` tells of an end, too, which is nothing to read: libcurl finds it before it uses
            // the connection, and here it must not be asked about again before each request.
            if http_has_ended(target) != 0 {
                leaveIdle(target)
            } else if unsafe http_any_readable([target], 1) != 0 {
                drop(target)
            }
        }
    }

    /// Closes the connection; the descriptor stays libcurl's, which finds that it has ended.
    private func drop(_ target: CInt) {
        leaveIdle(target)
        unsafe entries[Int(target)].isPlain = false
        http_give_up_socket(target)
        // The kernel has forgotten the connection, and with it that it was watched.
        unsafe entries[Int(target)].listed = []
    }
}
