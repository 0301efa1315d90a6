internal import CTLSShims
internal import ToolkitSystem

extension TLSInfo {
    /// Reads the results of a handshake.
    init(of connection: UnsafeMutableRawPointer) {
        unsafe self.init(
            version: String(cString: http_tls_version(connection)),
            cipher: String(cString: http_tls_cipher(connection)),
            isResumed: http_tls_is_resumed(connection) != 0)
        if let name = unsafe http_tls_server_name(connection) {
            unsafe serverName = String(cString: name)
        }
        var name: UnsafePointer<UInt8>?
        let count = unsafe Int(http_tls_protocol(connection, &name))
        if count > 0 {
            let bytes = unsafe UnsafeBufferPointer(start: name, count: count)
            unsafe applicationProtocol = String(decoding: bytes, as: UTF8.self)
        }
        if unsafe http_tls_has_peer_certificate(connection) != 0 {
            peerCertificate = unsafe PeerCertificate(of: connection)
        }
    }
}

extension PeerCertificate {
    fileprivate init(of connection: UnsafeMutableRawPointer) {
        func text(_ part: Int) -> String? {
            // A longer text counts as missing.
            var text = [CChar](repeating: 0, count: 4_096)
            let length = unsafe http_tls_peer_text(connection, CInt(part), &text, text.count)
            guard length >= 0 else { return nil }
            let bytes = text[..<length].map(UInt8.init(bitPattern:))
            return String(decoding: bytes, as: UTF8.self)
        }
        let size = unsafe http_tls_peer_certificate(connection, nil)
        let encoded = unsafe [UInt8](unsafeUninitializedCapacity: max(size, 0)) { room, count in
            count = unsafe max(0, http_tls_peer_certificate(connection, room.baseAddress))
        }
        self.init(
            subject: text(HTTP_TLS_SUBJECT) ?? "", commonName: text(HTTP_TLS_COMMON_NAME),
            issuer: text(HTTP_TLS_ISSUER) ?? "", serialNumber: text(HTTP_TLS_SERIAL) ?? "",
            encoded: encoded)
    }
}
