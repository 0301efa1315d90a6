internal import CTLSShims
internal import ToolkitSystem

/// The records of a TLS 1.3 connection after its handshake (RFC 8446 section 5). OpenSSL performs
/// the handshake, and its ciphers encrypt the records. The record layer takes secrets from
/// OpenSSL's object for the connection, which is several times as large. The caller frees that
/// object afterwards.
@safe
final class RecordLayer {
    /// The content of a record (section 5.1).
    enum ContentType: UInt8 {
        case alert = 21
        case handshake = 22
        case applicationData = 23
    }

    /// Why a connection fails.
    struct Failure: Error, Equatable {
        /// The alert to send (section 6.2); `nil` when the peer has sent a fatal alert itself.
        var alert: UInt8?
        /// The text after a prefix such as "a record is invalid: ".
        var reason: String

        static func unexpected(_ reason: String) -> Self { Self(alert: 10, reason: reason) }
        static let badRecord = Self(alert: 20, reason: "authentication failed")
        static let overflow = Self(alert: 22, reason: "longer than allowed")
        static let library = Self(alert: 80, reason: "OpenSSL reported an error")
    }

    /// The meaning of a decrypted record.
    enum Opened: Equatable {
        /// Application data, with its number of bytes.
        case data(Int)
        /// Nothing to act on.
        case nothing
        /// The peer switches to its next keys, and may request a switch by this side, too
        /// (section 4.6.3).
        case keyUpdate(isRequest: Bool)
        /// The peer sends no more data (close_notify).
        case end
    }

    /// The most bytes of content in a record.
    static let contentLimit = 1 << 14
    static let headerSize = 5
    /// The size of the authentication tag, the same for all ciphers.
    static let tagSize = 16
    /// The most consecutive records without application data. Each costs work without a result.
    private static let silentLimit = 32

    private let receiving: UnsafeMutableRawPointer
    private let sending: UnsafeMutableRawPointer
    private var received: UInt64 = 0
    private var sent: UInt64
    private var silent = 0
    /// The most records that one key seals. AES-GCM is safe for 2^24.5 records (section 5.5).
    private let keyLimit: UInt64

    /// - Parameters:
    ///   - connection: OpenSSL's object for the connection. Its handshake is complete, and it no
    ///     longer sends or receives after this call. The caller frees it.
    ///   - sent: the number of records that the connection has sent since its handshake.
    ///   - keyLimit: the most records that one key seals.
    /// - Returns: `nil` when OpenSSL must keep the records: for another version or cipher suite,
    ///   pending input, a maximum fragment length, missing secrets, or lack of memory.
    init?(after connection: UnsafeMutableRawPointer, sent: Int, keyLimit: UInt64 = 1 << 24) {
        let receiving = unsafe http_tls_direction_of(connection, 0)
        let sending = unsafe http_tls_direction_of(connection, 1)
        guard let receiving = unsafe receiving, let sending = unsafe sending else {
            unsafe http_tls_direction_free(receiving)
            unsafe http_tls_direction_free(sending)
            return nil
        }
        unsafe self.receiving = receiving
        unsafe self.sending = sending
        self.sent = UInt64(sent)
        self.keyLimit = keyLimit
    }

    /// For tests: a record layer with given secrets of a cipher suite, which starts at the first
    /// record.
    init?(suite: UInt32, receiving: [UInt8], sending: [UInt8], keyLimit: UInt64 = 1 << 24) {
        guard let ours = unsafe http_tls_direction(suite, sending, 1),
            let theirs = unsafe http_tls_direction(suite, receiving, 0)
        else { return nil }
        unsafe self.receiving = theirs
        unsafe self.sending = ours
        sent = 0
        self.keyLimit = keyLimit
    }

    deinit {
        unsafe http_tls_direction_free(receiving)
        unsafe http_tls_direction_free(sending)
    }

    // MARK: Receiving

    /// The size of the record that the bytes begin with; `nil` while the record is incomplete.
    @inline(__always)
    static func sizeOfFirst(in bytes: UnsafeRawBufferPointer) throws(Failure) -> Int? {
        guard bytes.count >= headerSize else { return nil }
        // All records of both sides are encrypted now. The version field is ignored (section 5.2).
        guard unsafe bytes[0] == ContentType.applicationData.rawValue else {
            throw unsafe .unexpected("expected an encrypted record, got type \(bytes[0])")
        }
        let length = unsafe Int(bytes[3]) << 8 | Int(bytes[4])
        guard length <= contentLimit + 256 else { throw .overflow }
        return bytes.count >= headerSize + length ? headerSize + length : nil
    }

    /// How many bytes `open` writes for a record of this size.
    static func innerSize(of size: Int) -> Int { size - headerSize - tagSize }

    /// Decrypts a complete record.
    /// - Parameter text: a buffer of at least `innerSize` bytes; it may be the memory of the
    ///   record's ciphertext. After a failure its content must not be used.
    func open(
        _ record: UnsafeRawBufferPointer, into text: UnsafeMutableRawPointer
    ) throws(Failure) -> Opened {
        guard let bytes = unsafe record.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw .badRecord }
        let target = unsafe text.assumingMemoryBound(to: UInt8.self)
        guard unsafe http_tls_open_record(receiving, received, bytes, record.count, target) != 0
        else { throw .badRecord }
        received += 1
        // The type and zeros follow the content (section 5.2).
        var count = Self.innerSize(of: record.count) - 1
        guard count <= Self.contentLimit else { throw .overflow }
        while count >= 0, unsafe target[count] == 0 { count -= 1 }
        guard count >= 0 else { throw .unexpected("no content type") }
        let type = unsafe ContentType(rawValue: target[count])
        if type == .applicationData, count > 0 {
            silent = 0
            return .data(count)
        }
        silent += 1
        guard silent <= Self.silentLimit else {
            throw .unexpected("too many records without application data")
        }
        let content = unsafe UnsafeRawBufferPointer(start: text, count: count)
        switch type {
        case .applicationData: return .nothing
        case .alert: return try unsafe Self.read(alert: content)
        case .handshake: return try unsafe read(handshake: content)
        case nil: throw .unexpected("unknown content type")
        }
    }

    /// Reads an alert. Every alert but close_notify and user_canceled ends the connection with an
    /// error (section 6).
    private static func read(alert: UnsafeRawBufferPointer) throws(Failure) -> Opened {
        guard alert.count > 0 else { throw .unexpected("empty alert") }
        guard alert.count == 2 else { throw Failure(alert: 50, reason: "malformed alert") }
        switch unsafe alert[1] {
        case 0: return .end
        case 90: return .nothing
        case let number: throw Failure(alert: nil, reason: "fatal alert \(number) from the peer")
        }
    }

    /// Reads a handshake message. After the handshake a client may send KeyUpdate only, which must
    /// end with its record (section 5.1).
    private func read(handshake: UnsafeRawBufferPointer) throws(Failure) -> Opened {
        guard handshake.count >= 4, unsafe handshake[0] == 24 else {
            throw .unexpected("unexpected handshake message")
        }
        guard handshake.count == 5,
            unsafe handshake[1] == 0 && handshake[2] == 0 && handshake[3] == 1
        else { throw Failure(alert: 50, reason: "malformed KeyUpdate") }
        guard unsafe handshake[4] <= 1 else {
            throw Failure(alert: 47, reason: "unknown value in KeyUpdate")
        }
        guard unsafe http_tls_direction_update(receiving) != 0 else { throw .library }
        received = 0
        return .keyUpdate(isRequest: unsafe handshake[4] == 1)
    }

    // MARK: Sending

    /// Appends application data to the shared output, in as few records as possible.
    func seal(_ bytes: UnsafeRawBufferPointer, into room: TLSRoom) throws(Failure) {
        var start = 0
        while start < bytes.count {
            if sent >= keyLimit { try updateKeys(into: room) }
            let end = min(start + Self.contentLimit, bytes.count)
            try unsafe seal(
                .applicationData, UnsafeRawBufferPointer(rebasing: bytes[start..<end]), into: room)
            start = end
        }
    }

    /// Sends a KeyUpdate and switches to this side's next keys (section 4.6.3).
    func updateKeys(into room: TLSRoom) throws(Failure) {
        try seal(.handshake, [24, 0, 0, 1, 0], into: room)
        guard unsafe http_tls_direction_update(sending) != 0 else { throw .library }
        sent = 0
    }

    /// Appends an alert.
    func seal(alert number: UInt8, into room: TLSRoom) throws(Failure) {
        // close_notify has the level of a warning, every other alert is fatal (section 6).
        try seal(.alert, [number == 0 ? 1 : 2, number], into: room)
    }

    private func seal(
        _ type: ContentType, _ message: [UInt8], into room: TLSRoom
    ) throws(Failure) {
        let done = unsafe message.withUnsafeBytes { bytes in
            unsafe http_tls_seal(
                sending, room.shared, sent, type.rawValue, bytes.baseAddress, bytes.count)
        }
        try count(done)
    }

    private func seal(
        _ type: ContentType, _ content: UnsafeRawBufferPointer, into room: TLSRoom
    ) throws(Failure) {
        let done = unsafe http_tls_seal(
            sending, room.shared, sent, type.rawValue, content.baseAddress, content.count)
        try count(done)
    }

    private func count(_ done: CInt) throws(Failure) {
        guard done != 0 else { throw .library }
        sent += 1
    }
}
