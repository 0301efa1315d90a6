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
    /// Whom libcurl tells of the sockets that it makes.
    let sockets: UnsafeMutablePointer<http_curl_sockets>
    /// When libcurl wants to be called though nothing has happened, by the clock of the system;
    /// the largest number for never.
    private(set) var deadline = Int64.max

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
        unsafe http_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections)
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
        unsafe curl_multi_add_handle(raw, easy.raw) == CURLM_OK
    }

    func remove(_ easy: EasyHandle) {
        unsafe curl_multi_remove_handle(raw, easy.raw)
    }

    // MARK: what goes on

    /// Does what is due at a time.
    func perform(at now: Int64) {
        guard deadline <= now else { return }
        deadline = .max
        act(-1, 0)
    }

    /// Waits for something to happen to a socket.
    /// - Returns: how many events there are for ``handle(events:)``.
    func wait(milliseconds: Int32) -> Int {
        poller.wait(milliseconds: milliseconds)
    }

    /// Does what the events of the last wait call for.
    func handle(events: Int) {
        for index in 0..<events {
            guard let (socket, events) = poller.event(index), poller.isWanted(socket) else {
                continue
            }
            act(socket, Int32(events.rawValue))
        }
    }

    /// Waits for the sockets that are held, and does what their events call for.
    /// - Returns: false when somebody has woken it, or there is nothing to wait for.
    func waitForHeld(nanoseconds: Int64) -> Bool {
        poller.waitForHeld(nanoseconds: nanoseconds) { socket, events in
            act(socket, Int32(events.rawValue))
        }
    }

    /// Whether the calling thread is the program's first one.
    static var isOnMainThread: Bool {
        #if os(Linux)
            http_is_main_thread() != 0
        #else
            true
        #endif
    }

    private func act(_ socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(raw, socket, events, &running)
    }

    /// Ends the wait. Any thread may call it, as long as the handle is there.
    func wake() { poller.wake() }

    /// The next transfer that has ended.
    func nextDone() -> (transfer: Transfer, code: CURLcode)? {
        var code = CURLE_OK
        guard let easy = unsafe http_curl_multi_next_done(raw, &code) else { return nil }
        var context: UnsafeMutableRawPointer?
        unsafe http_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        guard let context = unsafe context else { return nil }
        let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
        return unsafe handle.transfer.map { ($0, code) }
    }

    /// libcurl's clock counts milliseconds: it is asked a little late rather than too early.
    fileprivate func setDeadline(_ milliseconds: Int) {
        deadline =
            milliseconds < 0
            ? .max : milliseconds == 0 ? 0 : System.now() + Int64(milliseconds) * 1_000_000
    }
}

private func socketChanged(
    easy: UnsafeMutableRawPointer?, socket: curl_socket_t, what: Int32,
    context: UnsafeMutableRawPointer?, socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context)
    // CURL_POLL_REMOVE is no combination of the others' bits.
    let events = SocketPoller.Events(rawValue: UInt8(truncatingIfNeeded: what & 3))
    unsafe multi._withUnsafeGuaranteedRef { $0.poller.want(socket, what == 4 ? [] : events) }
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
