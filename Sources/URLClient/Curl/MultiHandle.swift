internal import CCurlShims
internal import ToolkitSystem

/// libcurl's multi handle: the connections, the transfers that use them, and the sockets that they
/// wait for.
///
/// One thread at a time may use it, with two exceptions: the loop's thread calls
/// ``wait(milliseconds:)`` also while another thread uses the handle, and any thread may call
/// ``wake()``. Transfers are added and removed between other calls only, never in a callback.
@safe
final class MultiHandle: @unchecked Sendable {
    private let raw: UnsafeMutableRawPointer
    let poller: SocketPoller
    /// Receives the sockets that libcurl opens and closes.
    let sockets: UnsafeMutablePointer<http_curl_sockets>
    /// When libcurl wants to be called without an event, on the clock of `LoopClock.now()`; the
    /// largest number for never.
    private(set) var deadline = Int64.max
    /// How many transfers have no socket yet. They may get an idle connection.
    @exclusivity(unchecked)
    private var startingCount = 0
    /// How many of them already have a response, which arrived before libcurl had to wait for it.
    @exclusivity(unchecked)
    private var answeredCount = 0
    /// The sockets that libcurl does not use, and their watchers.
    private var watchers: [CInt: any SocketWatcher] = [:]

    init?(idleConnections: Int) {
        guard CurlFeatures.current.version > 0, let poller = SocketPoller(),
            let raw = unsafe curl_multi_init()
        else {
            return nil
        }
        unsafe self.raw = unsafe raw
        self.poller = poller
        unsafe sockets = .allocate(capacity: 1)
        unsafe sockets.initialize(
            to: http_curl_sockets(
                context: Unmanaged.passUnretained(poller).toOpaque(), opened: socketOpened,
                closes: socketCloses))
        // libcurl does not take 0 as a limit. CURLOPT_FORBID_REUSE keeps connections from becoming
        // idle.
        unsafe http_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, max(1, idleConnections))
        unsafe http_curl_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe http_curl_multi_set_callbacks(raw, context, socketChanged, timerChanged)
    }

    deinit {
        unsafe http_curl_multi_set_callbacks(raw, nil, nil, nil)
        unsafe curl_multi_cleanup(raw)
        unsafe sockets.deallocate()
    }

    func add(_ easy: EasyHandle) -> Bool {
        guard unsafe curl_multi_add_handle(raw, easy.raw) == CURLM_OK else { return false }
        unsafe easy.use.isStarting = true
        unsafe startingCount += 1
        return true
    }

    func remove(_ easy: EasyHandle) {
        unsafe curl_multi_remove_handle(raw, easy.raw)
        isPlaced(easy)
        unsafe poller.release(easy.use.socket, from: easy.identity)
        unsafe easy.use.socket = -1
    }

    /// Notes that a transfer uses a socket. May be called in a callback.
    fileprivate func use(_ socket: curl_socket_t, by easy: UnsafeMutableRawPointer, _ user: UInt) {
        poller.use(socket, by: user)
        guard let handle = unsafe Self.handle(of: easy) else { return }
        isPlaced(handle)
        unsafe handle.use.socket = socket
    }

    /// Called when libcurl waits only to send, which it also does after the server has closed its
    /// side of the connection. May be called in a callback.
    fileprivate func onlySends(_ easy: UnsafeMutableRawPointer, over socket: curl_socket_t) {
        unsafe Self.handle(of: easy)?.receiver?._withUnsafeGuaranteedRef { receiver in
            guard receiver.needsAnswer, ForeignSockets.hasEnded(socket) else { return }
            receiver.connectionEnded()
        }
    }

    private func isPlaced(_ easy: EasyHandle) {
        guard unsafe easy.use.isStarting else { return }
        unsafe easy.use.isStarting = false
        unsafe startingCount -= 1
        guard unsafe easy.use.isAnswered else { return }
        unsafe easy.use.isAnswered = false
        unsafe answeredCount -= 1
    }

    /// The time of the last event of a transfer's socket; 0 if it is not known.
    func lastEvent(of easy: EasyHandle) -> Int64 {
        unsafe poller.lastEvent(easy.use.socket, of: easy.identity)
    }

    /// Notes that a response has arrived. May be called in a callback.
    /// - Parameter isPlain: whether the response is one of HTTP/1.
    func noteAnswer(to easy: EasyHandle, isPlain: Bool) {
        if isPlain { unsafe poller.notePlain(easy.use.socket, of: easy.identity) }
        guard unsafe easy.use.isStarting, unsafe !easy.use.isAnswered else { return }
        unsafe easy.use.isAnswered = true
        unsafe answeredCount += 1
    }

    // MARK: sockets of others

    /// Reports events of a socket that libcurl does not use to a watcher; an empty set stops the
    /// reports. Must not be called in a callback.
    func watch(_ socket: CInt, _ events: SocketEvents, by watcher: any SocketWatcher) {
        watchers[socket] = watcher
        poller.want(socket, events)
    }

    /// Forgets a socket, which is about to be closed.
    func unwatch(_ socket: CInt) {
        guard watchers.removeValue(forKey: socket) != nil else { return }
        poller.want(socket, .none)
    }

    // MARK: events

    /// Lets libcurl do what is due at `now`.
    func perform(at now: Int64) {
        guard deadline <= now else { return }
        deadline = .max
        act(-1, 0)
    }

    /// Waits for events of the sockets.
    /// - Returns: how many events there are for ``handle(events:at:since:)``; -1 if a signal has
    ///   ended the wait.
    func wait(milliseconds: Int32) -> Int {
        poller.wait(milliseconds: milliseconds)
    }

    /// Handles the events of the last wait.
    /// - Parameter turn: the turn before the wait; see ``SocketPoller/beginTurn(after:)``.
    func handle(events: Int, at now: Int64, since turn: UInt64) {
        // A full array may omit events; the waker may have taken one of its places. An interrupted
        // wait reports none.
        let isWhole = events >= 0 && events < SocketPoller.capacity - 1
        poller.beginTurn(after: isWhole ? turn : nil)
        unsafe poller.dropTold(events, dropsIdle: answeredCount == 0)
        for index in 0..<max(0, events) {
            guard let (socket, events) = poller.event(index),
                poller.isWanted(socket, dropsIdle: unsafe answeredCount == 0)
            else { continue }
            poller.noteEvent(socket, at: now)
            act(socket, Int32(events.rawValue))
        }
    }

    /// Waits for the held sockets, and handles their events.
    /// - Parameters:
    ///   - nanoseconds: the longest wait.
    ///   - blocks: whether the thread sleeps meanwhile; otherwise it polls.
    ///   - now: the time at which the wait begins.
    /// - Returns: false if another thread has ended the wait, or there is nothing to wait for.
    func waitForHeld(nanoseconds: Int64, blocks: Bool, from now: Int64) -> Bool {
        poller.waitForHeld(nanoseconds: nanoseconds, blocks: blocks) { socket, events in
            poller.noteEvent(socket, at: now)
            act(socket, Int32(events.rawValue))
        }
    }

    private func act(_ socket: Int32, _ events: Int32) {
        if socket >= 0, !watchers.isEmpty, let watcher = watchers[socket] {
            return watcher.socketReady()
        }
        var running: Int32 = 0
        // If a response arrived before libcurl named its socket, it is unknown which connections
        // are in use.
        if unsafe startingCount > 0, unsafe answeredCount == 0 { poller.dropSpoilt() }
        unsafe curl_multi_socket_action(raw, socket, events, &running)
    }

    /// Ends the wait. Any thread that retains the handle may call it.
    func wake() { poller.wake() }

    /// The next transfer that has ended.
    func nextDone() -> (receiver: TransferReceiver, code: CURLcode)? {
        var code = CURLE_OK
        guard let easy = unsafe http_curl_multi_next_done(raw, &code) else { return nil }
        return unsafe Self.handle(of: easy)?.receiver.map {
            unsafe ($0.takeUnretainedValue(), code)
        }
    }

    private static func handle(of easy: UnsafeMutableRawPointer) -> EasyHandle? {
        var context: UnsafeMutableRawPointer?
        unsafe http_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return unsafe context.map {
            unsafe Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// libcurl's clock counts milliseconds. It is called a little late rather than too early.
    fileprivate func setDeadline(_ milliseconds: Int) {
        deadline =
            milliseconds < 0
            ? .max
            : milliseconds == 0
                ? 0 : LoopClock.now() + Int64(min(milliseconds, 1 << 40)) * 1_000_000
    }
}

/// Watches a socket that libcurl does not use.
protocol SocketWatcher: AnyObject {
    /// The socket can be read or written, or has ended.
    func socketReady()
}

private func socketChanged(
    easy: UnsafeMutableRawPointer?, socket: curl_socket_t, what: Int32,
    context: UnsafeMutableRawPointer?, socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context)
    // CURL_POLL_REMOVE (4) is not a combination of the other bits.
    let events = SocketEvents(rawValue: UInt8(truncatingIfNeeded: what & 3))
    unsafe multi._withUnsafeGuaranteedRef { multi in
        multi.poller.want(socket, what == 4 ? .none : events)
        if events == .write, let easy = unsafe easy { unsafe multi.onlySends(easy, over: socket) }
        let user = UInt(bitPattern: easy)
        guard what != 4, let easy = unsafe easy, !multi.poller.isUsed(socket, by: user) else {
            return
        }
        unsafe multi.use(socket, by: easy, user)
    }
    return 0
}

private func timerChanged(
    raw: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context)
    unsafe multi._withUnsafeGuaranteedRef { $0.setDeadline(milliseconds) }
    return 0
}

private func socketOpened(context: UnsafeMutableRawPointer?, socket: curl_socket_t) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().opened(socket)
}

private func socketCloses(context: UnsafeMutableRawPointer?, socket: curl_socket_t) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<SocketPoller>.fromOpaque(context).takeUnretainedValue().closes(socket)
}
