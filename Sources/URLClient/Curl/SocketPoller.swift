internal import ToolkitSystem

/// Watches the sockets that libcurl waits for, and idle connections.
///
/// Any thread may change it, one at a time, also while the loop's thread waits, which need not be
/// woken. An idle connection stays on the kernel's list, so that the next request over it needs no
/// system call. It is taken off the list at an event that libcurl does not wait for.
@safe
final class SocketPoller: @unchecked Sendable {
    private struct Entry {
        /// The events that the kernel watches it for.
        var listed = SocketEvents.none
        /// The events that libcurl waits for.
        var wanted = SocketEvents.none
        /// Whether `closes(_:)` will report that the socket is closed.
        var isOwn = false
        /// The transfer that libcurl last reported for the socket; 0 for none.
        var user: UInt = 0
        /// The time of the last event.
        var lastEvent: Int64 = 0
        /// Whether the connection uses HTTP/1: responses arrive one after another, with nothing
        /// between them.
        var isPlain = false
        /// The turn in which the idle connection is known to have no unread bytes.
        var quietTurn: UInt64 = 0
    }

    /// The most events that one wait returns.
    static var capacity: Int { SocketList.capacity }
    private let list: SocketList
    @exclusivity(unchecked)
    private var entries: [Entry] = []
    /// The descriptors that a visiting thread waits for. Their changes do not reach the kernel's
    /// list.
    @exclusivity(unchecked)
    private var held: [CInt] = []
    private(set) var isHeld = false
    @exclusivity(unchecked)
    private var waited: [SocketEvent] = []
    /// The HTTP/1 connections that are kept for later requests.
    @exclusivity(unchecked)
    private var idle: [CInt] = []
    /// The idle sockets that have to be checked.
    @exclusivity(unchecked)
    private var unseen: [CInt] = []
    /// The number of the current turn, which is the time between two waits. Within a turn no socket
    /// is checked twice.
    private(set) var turn: UInt64 = 1
    /// The last turn that began after a wait that reported all events of the kernel's list.
    private var toldTurn: UInt64 = 0

    init?() {
        guard let list = SocketList() else { return nil }
        self.list = list
    }

    /// Waits until something happens or the time is over.
    /// - Returns: how many events there are for ``event(_:)``; -1 if a signal has ended the wait.
    func wait(milliseconds: Int32) -> Int { list.wait(milliseconds: milliseconds) }

    /// An event of the last wait; nil if it was a wake-up.
    func event(_ index: Int) -> (descriptor: CInt, events: SocketEvents)? { list.event(index) }

    /// Ends the wait, or the next one.
    func wake() { list.wake() }

    // MARK: reports of libcurl

    /// Sets the events that libcurl waits for; an empty set for none.
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

    /// Leaves the sockets that libcurl begins to wait for to ``waitForHeld(nanoseconds:_:)``, until
    /// ``letGo()``.
    /// - Parameter all: whether this includes the sockets that it already waits for.
    func hold(all: Bool) {
        isHeld = true
        guard all else { return }
        for index in unsafe entries.indices where unsafe !entries[index].wanted.isEmpty {
            unsafe held.append(CInt(index))
        }
    }

    /// Passes the held sockets to the kernel's list.
    func letGo() {
        isHeld = false
        for target in unsafe held { update(target) }
        unsafe held.removeAll(keepingCapacity: true)
    }

    /// Waits only for the held descriptors, until ``wake()`` at the latest.
    /// - Returns: false if it was woken, has nothing to wait for, or is not supported by the
    ///   system.
    func waitForHeld(
        nanoseconds: Int64, blocks: Bool, _ body: (CInt, SocketEvents) -> Void
    ) -> Bool {
        unsafe waited.removeAll(keepingCapacity: true)
        guard SocketList.waitsForSome else { return false }
        for target in unsafe held {
            let entry = unsafe entries[Int(target)]
            // The socket's events must not wake the loop's thread as well.
            if !entry.listed.isEmpty {
                unsafe entries[Int(target)].listed = .none
                list.change(target, to: .none, from: entry.listed)
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

    /// Notes a new socket. `closes` will report its end.
    func opened(_ target: CInt) {
        want(target, .none)
        guard target >= 0 else { return }
        unsafe entries[Int(target)] = Entry(isOwn: true)
    }

    /// Notes that a socket is about to be closed. The kernel then removes it from its list.
    func closes(_ target: CInt) {
        guard target >= 0, unsafe Int(target) < entries.count else { return }
        leaveIdle(target)
        unsafe entries[Int(target)] = Entry()
    }

    /// Whether libcurl waits for an event. If not, the socket is taken off the kernel's list, so
    /// that the event does not come again.
    /// - Parameter dropsIdle: whether an idle connection with unread bytes is closed.
    func isWanted(_ target: CInt, dropsIdle: Bool) -> Bool {
        guard unsafe Int(target) < entries.count else { return false }
        let entry = unsafe entries[Int(target)]
        guard entry.wanted.isEmpty else { return true }
        // The event may be that of a response that was read since.
        if dropsIdle, unsafe idle.contains(target), ForeignSockets.areAnyReadable([target]) {
            drop(target)
            return false
        }
        if !entry.listed.isEmpty {
            unsafe entries[Int(target)].listed = .none
            list.change(target, to: .none, from: entry.listed)
        }
        return false
    }

    // MARK: idle connections

    /// Whether a transfer is known to use a socket. True for sockets that are not known.
    func isUsed(_ target: CInt, by user: UInt) -> Bool {
        guard target >= 0, unsafe Int(target) < entries.count else { return true }
        return unsafe entries[Int(target)].user == user
    }

    /// Notes that a transfer uses a socket.
    func use(_ target: CInt, by user: UInt) {
        if unsafe entries[Int(target)].user == 0 { leaveIdle(target) }
        unsafe entries[Int(target)].user = user
    }

    /// Notes an event of a socket.
    func noteEvent(_ target: CInt, at time: Int64) {
        guard target >= 0, unsafe Int(target) < entries.count else { return }
        unsafe entries[Int(target)].lastEvent = time
    }

    /// The time of the last event of a transfer's socket; 0 if it is not known.
    func lastEvent(_ target: CInt, of user: UInt) -> Int64 {
        guard target >= 0, isUsed(target, by: user) else { return 0 }
        return unsafe entries[Int(target)].lastEvent
    }

    /// Notes that a response of HTTP/1 arrives over a transfer's socket.
    func notePlain(_ target: CInt, of user: UInt) {
        guard target >= 0, isUsed(target, by: user) else { return }
        unsafe entries[Int(target)].isPlain = true
    }

    /// Notes the end of a transfer: its connection, if it is still open, becomes idle.
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
        // The end of the response was read just now, and libcurl has seen any bytes after it.
        unsafe entries[Int(target)].quietTurn = turn
        unsafe idle.append(target)
    }

    private func leaveIdle(_ target: CInt) {
        guard let index = unsafe idle.lastIndex(of: target) else { return }
        unsafe idle.remove(at: index)
    }

    /// Begins another turn: bytes may have arrived since the last one.
    /// - Parameter waited: the turn before a wait that has reported all events of the kernel's
    ///   list; nil without such a wait. It does not count if another turn has begun since.
    func beginTurn(after waited: UInt64? = nil) {
        let isTold = waited == turn
        turn &+= 1
        if isTold { toldTurn = turn }
    }

    /// Closes the idle connections that, according to the last wait, have unread bytes. This comes
    /// before the first event is handled, because connections may then be reused.
    func dropTold(_ count: Int, dropsIdle: Bool) {
        guard unsafe !idle.isEmpty else { return }
        for index in 0..<max(0, count) {
            if let (target, _) = event(index), unsafe idle.contains(target) {
                _ = isWanted(target, dropsIdle: dropsIdle)
            }
        }
    }

    /// Whether an idle connection is known to have no unread bytes, without a system call: it
    /// became idle or was checked in this turn, or was on the kernel's list during the wait before.
    private func isQuiet(_ target: CInt) -> Bool {
        let entry = unsafe entries[Int(target)]
        return entry.quietTurn == turn || toldTurn == turn && entry.listed.contains(.read)
    }

    /// Closes idle connections with unread bytes. The bytes belong to no request, and would be
    /// taken for the response to the next one (RFC 9112 section 6.3). libcurl itself only checks
    /// whether a connection has ended before it is reused.
    func dropSpoilt() {
        guard unsafe !idle.isEmpty else { return }
        unsafe unseen.removeAll(keepingCapacity: true)
        for target in unsafe idle where !isQuiet(target) {
            unsafe entries[Int(target)].quietTurn = turn
            unsafe unseen.append(target)
        }
        guard unsafe !unseen.isEmpty, unsafe ForeignSockets.areAnyReadable(unseen) else {
            return
        }
        for target in unsafe unseen {
            // `poll` also reports the end of a connection, without unread bytes. libcurl finds it
            // before it reuses the connection. The socket is not checked again before each request.
            if ForeignSockets.hasEnded(target) {
                leaveIdle(target)
            } else if ForeignSockets.areAnyReadable([target]) {
                drop(target)
            }
        }
    }

    /// Closes the connection. The descriptor still belongs to libcurl, which finds that the
    /// connection has ended.
    private func drop(_ target: CInt) {
        leaveIdle(target)
        unsafe entries[Int(target)].isPlain = false
        ForeignSockets.giveUp(target)
        // The kernel has removed the closed connection from its list.
        unsafe entries[Int(target)].listed = .none
    }
}
