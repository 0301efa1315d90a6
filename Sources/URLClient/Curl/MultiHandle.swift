internal import CCurlShims

/// libcurl's multi handle: the connections, the transfers that use them, and the sockets that they
/// wait for.
///
/// One thread at a time may use it, but for ``wait(milliseconds:)``, which is the loop's thread's
/// own and goes beside the others, and ``wake()``, which is everybody's. Transfers are added and
/// removed between other calls only, never in a callback.
@safe
final class MultiHandle: @unchecked Sendable {
    private let raw: UnsafeMutableRawPointer
    let poller: SocketPoller
    /// Receives the sockets that libcurl opens and closes.
    let sockets: UnsafeMutablePointer<http_curl_sockets>
    /// When libcurl wants to be called though nothing has happened, by the clock of the system;
    /// the largest number for never.
    private(set) var deadline = Int64.max
    /// How many transfers have not been given a socket yet: they may be given an idle connection.
    @exclusivity(unchecked)
    private var startingCount = 0
    /// How many of them have an answer already, which has come before libcurl had to wait for it.
    @exclusivity(unchecked)
    private var answeredCount = 0
    /// The sockets that are not libcurl's to use, and what waits for them.
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
        // 0 is no limit to libcurl; connections that are not to be kept are not.
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

    /// A transfer uses a socket. It may be called in a callback.
    fileprivate func use(_ socket: curl_socket_t, by easy: UnsafeMutableRawPointer, _ user: UInt) {
        poller.use(socket, by: user)
        guard let handle = unsafe Self.handle(of: easy) else { return }
        isPlaced(handle)
        unsafe handle.use.socket = socket
    }

    /// libcurl waits only for room to send, which it also does when the server has ended its side of the
    /// connection. May be called in a callback.
    fileprivate func onlySends(_ easy: UnsafeMutableRawPointer, over socket: curl_socket_t) {
        guard let transfer = unsafe Self.handle(of: easy)?.transfer, transfer.needsAnswer,
            http_has_ended(socket) != 0
        else { return }
        transfer.connectionEnded()
    }

    private func isPlaced(_ easy: EasyHandle) {
        guard unsafe easy.use.isStarting else { return }
        unsafe easy.use.isStarting = false
        unsafe startingCount -= 1
        guard unsafe easy.use.isAnswered else { return }
        unsafe easy.use.isAnswered = false
        unsafe answeredCount -= 1
    }

    /// When something has happened last to the socket of a transfer; 0 where that is not known.
    func lastEvent(of easy: EasyHandle) -> Int64 {
        unsafe poller.lastEvent(easy.use.socket, of: easy.identity)
    }

    /// An answer has come. It may be called in a callback.
    /// - Parameter isPlain: whether it is one of HTTP/1.
    func noteAnswer(to easy: EasyHandle, isPlain: Bool) {
        if isPlain { unsafe poller.notePlain(easy.use.socket, of: easy.identity) }
        guard unsafe easy.use.isStarting, unsafe !easy.use.isAnswered else { return }
        unsafe easy.use.isAnswered = true
        unsafe answeredCount += 1
    }

    // MARK: sockets of others

    /// Has a watcher told of events of a socket that libcurl does not use; none of them any more if
    /// the set is empty. Never within a callback.
    func watch(_ socket: CInt, _ events: SocketEvents, by watcher: any SocketWatcher) {
        watchers[socket] = watcher
        poller.want(socket, events)
    }

    /// Forgets a socket, which is about to be closed.
    func unwatch(_ socket: CInt) {
        guard watchers.removeValue(forKey: socket) != nil else { return }
        poller.want(socket, [])
    }

    // MARK: what goes on

    /// Does what is due at a time.
    func perform(at now: Int64) {
        guard deadline <= now else { return }
        deadline = .max
        act(-1, 0)
    }

    /// Waits for something to happen to a socket.
    /// - Returns: how many events there are for ``handle(events:at:since:)``; -1 when a signal has
    ///   ended the wait.
    func wait(milliseconds: Int32) -> Int {
        poller.wait(milliseconds: milliseconds)
    }

    /// Does what the events of the last wait call for.
    /// - Parameter turn: the turn before the wait; see ``SocketPoller/beginTurn(after:)``.
    func handle(events: Int, at now: Int64, since turn: UInt64) {
        // One place may have been the waker's; a wait that was interrupted has told of nothing.
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

    /// Waits for the sockets that are held, and does what their events call for.
    /// - Parameters:
    ///   - nanoseconds: the longest wait.
    ///   - blocks: whether the thread sleeps meanwhile; otherwise it asks again and again.
    ///   - now: when it begins.
    /// - Returns: false when another thread has woken it, or there is nothing to wait for.
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
        // Which connection is in use is not known where an answer was there before its socket.
        if unsafe startingCount > 0, unsafe answeredCount == 0 { poller.dropSpoilt() }
        unsafe curl_multi_socket_action(raw, socket, events, &running)
    }

    /// Ends the wait. Any thread may call it, as long as the handle is there.
    func wake() { poller.wake() }

    /// The next transfer that has ended.
    func nextDone() -> (transfer: any TransferCallbacks, code: CURLcode)? {
        var code = CURLE_OK
        guard let easy = unsafe http_curl_multi_next_done(raw, &code) else { return nil }
        return unsafe Self.handle(of: easy)?.transfer.map { ($0, code) }
    }

    private static func handle(of easy: UnsafeMutableRawPointer) -> EasyHandle? {
        var context: UnsafeMutableRawPointer?
        unsafe http_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        return unsafe context.map {
            unsafe Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// libcurl's clock counts milliseconds: it is asked a little late rather than too early.
    fileprivate func setDeadline(_ milliseconds: Int) {
        deadline =
            milliseconds < 0
            ? .max
            : milliseconds == 0 ? 0 : System.now() + Int64(min(milliseconds, 1 << 40)) * 1_000_000
    }
}

/// Uses a socket that is not libcurl's to use.
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
    // CURL_POLL_REMOVE is no combination of the others' bits.
    let events = SocketEvents(rawValue: UInt8(truncatingIfNeeded: what & 3))
    unsafe multi._withUnsafeGuaranteedRef { multi in
        multi.poller.want(socket, what == 4 ? [] : events)
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
