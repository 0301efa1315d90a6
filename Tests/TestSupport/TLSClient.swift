internal import CTLSTestShims

/// A client of TLS whose ciphertext is in memory. It trusts every certificate.
@safe
package final class TLSClient: @unchecked Sendable {
    /// A session that a later client can resume.
    @safe
    package final class Session: @unchecked Sendable {
        fileprivate let pointer: UnsafeMutableRawPointer
        fileprivate init(_ pointer: UnsafeMutableRawPointer) { unsafe self.pointer = pointer }
        deinit { unsafe tls_test_session_free(pointer) }

        /// The ticket by which a client asks the server to resume the session.
        package var ticket: [UInt8] {
            var bytes: UnsafePointer<UInt8>?
            let count = unsafe tls_test_session_ticket(pointer, &bytes)
            return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
        }
    }

    package enum Handshake { case unfinished, complete, failed }

    package static let tls12: CInt = 0x0303
    package static let tls13: CInt = 0x0304

    private let pointer: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - version: the only version that it speaks; 0 for any.
    ///   - name: the host name that it requests.
    package init(version: CInt = 0, name: String? = nil, session: Session? = nil) {
        unsafe pointer = tls_test_client(version, name, session?.pointer)
    }

    deinit { unsafe tls_test_client_free(pointer) }

    /// Sends this certificate when the server requests one; certificate and key are PEM.
    package func use(_ certificate: String, key: String) -> Bool {
        unsafe tls_test_client_use(pointer, certificate, key) == 1
    }

    // MARK: Ciphertext

    package func feed(_ bytes: [UInt8]) {
        unsafe tls_test_client_feed(pointer, bytes, bytes.count)
    }

    package func take() -> [UInt8] {
        var all: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe tls_test_client_take(pointer, &room, room.count)
            guard count > 0 else { return all }
            all += room[..<count]
        }
    }

    // MARK: Steps

    package func shakeHands() -> Handshake {
        switch unsafe tls_test_client_handshake(pointer) {
        case 1: .complete
        case 0: .unfinished
        default: .failed
        }
    }

    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        unsafe tls_test_client_write(pointer, bytes, bytes.count) == 1
    }

    @discardableResult
    package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// All plaintext received so far; `nil` after a failure.
    package func read() -> [UInt8]? {
        var all: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe tls_test_client_read(pointer, &room, room.count)
            guard count > 0 else { return count < 0 && all.isEmpty ? nil : all }
            all += room[..<count]
        }
    }

    package func close() { unsafe tls_test_client_close(pointer) }

    /// Requests records of at most 512 bytes of content. It is called before the handshake.
    package func limitRecords() { _ = unsafe tls_test_client_limit_records(pointer) }

    package func updateKeys() -> Bool { unsafe tls_test_client_update_keys(pointer) == 1 }

    // MARK: Facts

    /// Whether the server has sent close_notify.
    package var isClosed: Bool { unsafe tls_test_client_is_closed(pointer) != 0 }
    package var isResumed: Bool { unsafe tls_test_client_is_resumed(pointer) != 0 }

    /// The common name of the server's certificate.
    package var serverName: String? {
        var text = [CChar](repeating: 0, count: 256)
        let count = unsafe Int(tls_test_client_peer_name(pointer, &text, text.count))
        guard count >= 0 else { return nil }
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package var session: Session? {
        guard let session = unsafe tls_test_client_session(pointer) else { return nil }
        return unsafe Session(session)
    }
}
