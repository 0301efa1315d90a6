internal import CTLSShims
internal import ToolkitSystem

/// The records of a connection of TLS 1.3 after its handshake (RFC 8446 section 5). OpenSSL has made the
/// handshake and does the cryptography; its object for the connection, several times as large, is gone.
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
        /// The alert that tells the peer (section 6.2); `nil` when the peer is who gave up.
        var alert: UInt8?
        var reason: String

        static func unexpected(_ reason: String) -> Self { Self(alert: 10, reason: reason) }
        static let badRecord = Self(alert: 20, reason: "its authentication failed")
        static let overflow = Self(alert: 22, reason: "it is longer than allowed")
        static let library = Self(alert: 80, reason: "OpenSSL failed")
    }

    /// The meaning of a record.
    enum Opened: Equatable {
        /// So many bytes of application data.
        case data(Int)
        case nothing
        /// The peer goes over to its next keys, and may want that of this side (section 4.6.3).
        case keyUpdate(isRequest: Bool)
        /// The peer sends no more (close_notify).
        case end
    }

    /// The most bytes of content in a record.
    static let contentLimit = 1 << 14
    static let headerSize = 5
    /// The tag of each of the ciphers.
    static let tagSize = 16
    /// Records without application data that may follow each other: each costs work and brings nothing.
    private static let silentLimit = 32

    private let receiving: UnsafeMutableRawPointer
    private let sending: UnsafeMutableRawPointer
    private var received: UInt64 = 0
    private var sent: UInt64
    private var silent = 0
    /// Records that one key may seal. AES-GCM is safe for 2^24.5 of them (section 5.5).
    private let keyLimit: UInt64

    /// - Parameters:
    ///   - connection: its handshake is complete, and it is not used any more for sending or receiving.
    ///   - sent: the records that it has sent since its handshake.
    /// - Returns: `nil` for a version or cipher suite that stays with OpenSSL.
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

    /// For tests: by secrets of a suite, from the first record on.
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

    /// The size of the record that the bytes begin with, `nil` while it is not whole.
    @inline(__always)
    static func sizeOfFirst(in bytes: UnsafeRawBufferPointer) throws(Failure) -> Int? {
        guard bytes.count >= headerSize else { return nil }
        // All records of both sides are encrypted now. The version says nothing (section 5.2).
        guard unsafe bytes[0] == ContentType.applicationData.rawValue else {
            throw unsafe .unexpected("a record of type \(bytes[0]) is not encrypted")
        }
        let length = unsafe Int(bytes[3]) << 8 | Int(bytes[4])
        guard length <= contentLimit + 256 else { throw .overflow }
        return bytes.count >= headerSize + length ? headerSize + length : nil
    }

    /// How many bytes `open` writes of a record of a size.
    static func innerSize(of size: Int) -> Int { size - headerSize - tagSize }

    /// Decrypts a whole record.
    /// - Parameter text: room for `innerSize`, which may be the record's own. Nothing in it may be used
    ///   after a failure.
    func open(
        _ record: UnsafeRawBufferPointer, into text: UnsafeMutableRawPointer
    ) throws(Failure) -> Opened {
        guard let bytes = unsafe record.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw .badRecord }
        let target = unsafe text.assumingMemoryBound(to: UInt8.self)
        guard unsafe http_tls_open_record(receiving, received, bytes, record.count, target) != 0
        else { throw .badRecord }
        received += 1
        // Behind the content are its type and zeros.
        var count = Self.innerSize(of: record.count) - 1
        guard count <= Self.contentLimit else { throw .overflow }
        while count >= 0, unsafe target[count] == 0 { count -= 1 }
        guard count >= 0 else { throw .unexpected("a record has no type") }
        let type = unsafe ContentType(rawValue: target[count])
        if type == .applicationData, count > 0 {
            silent = 0
            return .data(count)
        }
        silent += 1
        guard silent <= Self.silentLimit else {
            throw .unexpected("too many records without content")
        }
        let content = unsafe UnsafeRawBufferPointer(start: text, count: count)
        switch type {
        case .applicationData: return .nothing
        case .alert: return try unsafe Self.read(alert: content)
        case .handshake: return try unsafe read(handshake: content)
        case nil: throw .unexpected("a record has an unknown type")
        }
    }

    /// Section 6: every alert but these two is the end of the connection.
    private static func read(alert: UnsafeRawBufferPointer) throws(Failure) -> Opened {
        guard alert.count > 0 else { throw .unexpected("an alert is empty") }
        guard alert.count == 2 else { throw Failure(alert: 50, reason: "an alert is malformed") }
        switch unsafe alert[1] {
        case 0: return .end
        case 90: return .nothing
        case let number: throw Failure(alert: nil, reason: "the peer sent alert \(number)")
        }
    }

    /// A client has one message left, and it must end with its record (section 5.1).
    private func read(handshake: UnsafeRawBufferPointer) throws(Failure) -> Opened {
        guard handshake.count >= 4, unsafe handshake[0] == 24 else {
            throw .unexpected("a handshake message after the handshake")
        }
        guard handshake.count == 5,
            unsafe handshake[1] == 0 && handshake[2] == 0 && handshake[3] == 1
        else { throw Failure(alert: 50, reason: "a KeyUpdate is malformed") }
        guard unsafe handshake[4] <= 1 else {
            throw Failure(alert: 47, reason: "a KeyUpdate asks for something unknown")
        }
        guard unsafe http_tls_direction_update(receiving) != 0 else { throw .library }
        received = 0
        return .keyUpdate(isRequest: unsafe handshake[4] == 1)
    }

    // MARK: Sending

    /// Appends application data to the room's output, in as few records as possible.
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

    /// Tells the peer that this side goes over to its next keys, and does (section 4.6.3).
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
