internal import CCurlShims

/// libcurl's multi handle: the connections, and the transfers that use them.
///
/// All of it belongs to one thread, but for ``wake()``. Transfers are added and removed between
/// calls of ``perform()`` only, never in a callback.
@safe
final class MultiHandle: @unchecked Sendable {
    private let raw: UnsafeMutableRawPointer

    init?(idleConnections: Int) {
        guard CurlFeatures.current.version > 0, let raw = unsafe curl_multi_init() else {
            return nil
        }
        unsafe self.raw = unsafe raw
        unsafe http_curl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, idleConnections)
        unsafe http_curl_multi_set_long(raw, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    deinit {
        unsafe curl_multi_cleanup(raw)
    }

    func add(_ easy: EasyHandle) -> Bool {
        unsafe curl_multi_add_handle(raw, easy.raw) == CURLM_OK
    }

    func remove(_ easy: EasyHandle) {
        unsafe curl_multi_remove_handle(raw, easy.raw)
    }

    /// Does what can be done without waiting.
    func perform() {
        var running: Int32 = 0
        unsafe curl_multi_perform(raw, &running)
    }

    /// Waits for something to do.
    func poll(milliseconds: Int32) {
        unsafe curl_multi_poll(raw, nil, 0, milliseconds, nil)
    }

    /// Ends the wait. Any thread may call it, as long as the handle is there.
    func wake() {
        unsafe curl_multi_wakeup(raw)
    }

    /// The next transfer that has ended.
    func nextDone() -> (transfer: Transfer, code: CURLcode)? {
        var code = CURLE_OK
        guard let easy = unsafe http_curl_multi_next_done(raw, &code) else { return nil }
        var context: UnsafeMutableRawPointer?
        unsafe http_curl_get_pointer(easy, CURLINFO_PRIVATE, &context)
        guard let context = unsafe context else { return nil }
        return (unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue(), code)
    }
}
