internal import CCurlShims

// A connection that libcurl makes and then leaves to the caller: its bytes go by `send` and `receive`,
// never within a callback.
extension EasyHandle {
    /// How a call for the bytes of a connection has gone.
    enum Moved {
        case bytes(Int)
        /// Nothing goes now; wait for the socket.
        case later
        case ended
    }

    /// Has a new connection made, and no request sent.
    func connectOnly() {
        set(CURLOPT_CONNECT_ONLY, 1)
        set(CURLOPT_FRESH_CONNECT, 1)
    }

    /// The socket of the connection; negative for none.
    var activeSocket: Int32 { unsafe http_curl_get_socket(raw) }

    /// The status with which a proxy has answered a CONNECT; 0 for none.
    var proxyStatus: Int { number(CURLINFO_HTTP_CONNECTCODE) }

    func send(_ bytes: UnsafeRawBufferPointer) -> Moved {
        var count = 0
        let code = unsafe curl_easy_send(raw, bytes.baseAddress, bytes.count, &count)
        if code == CURLE_AGAIN { return .later }
        return code == CURLE_OK ? count > 0 ? .bytes(count) : .later : .ended
    }

    func receive(into room: UnsafeMutableRawBufferPointer) -> Moved {
        var count = 0
        let code = unsafe curl_easy_recv(raw, room.baseAddress, room.count, &count)
        if code == CURLE_AGAIN { return .later }
        return code == CURLE_OK && count > 0 ? .bytes(count) : .ended
    }
}
