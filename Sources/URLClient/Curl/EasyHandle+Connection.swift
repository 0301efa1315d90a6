internal import CCurlShims

// A connection that libcurl makes and then leaves to the caller, who uses `send` and `receive`,
// never in a callback.
extension EasyHandle {
    /// The result of sending or receiving bytes.
    enum Moved {
        case bytes(Int)
        /// No bytes can be moved now; wait for the socket.
        case later
        case ended
    }

    /// Makes libcurl open a new connection and send no request.
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
