internal import CHTTPServerShims

/// Connected sockets that another library has made and will close, such as libcurl.
package enum ForeignSockets {
    /// Whether one of the sockets has unread bytes. If one of them has ended, the result may be
    /// either.
    package static func areAnyReadable(_ sockets: [CInt]) -> Bool {
        unsafe http_server_any_readable(sockets, CInt(sockets.count)) != 0
    }

    /// Whether a connection has ended, and has no unread bytes.
    package static func hasEnded(_ socket: CInt) -> Bool { http_server_has_ended(socket) != 0 }

    /// Closes a connection immediately, and keeps its descriptor valid: reading from it finds only
    /// the end.
    package static func giveUp(_ socket: CInt) { http_server_give_up_socket(socket) }
}
