internal import ToolkitSystem

/// Records that the system has not taken yet.
struct PendingRecords {
    /// Plaintext of streams that is encrypted at once, in bytes: more records to a call of the system
    /// cost less, and each of them must fit into memory when the peer does not read.
    static let streamBatch = 64 << 10
    /// The most `answers` that a peer can have us keep without reading.
    static let limit = 256 << 10

    private var bytes: [UInt8] = []
    private var sent = 0
    /// How much plaintext they contain.
    private var plaintext = 0

    /// The bytes of records without application data: alerts, tickets and answers to key updates.
    private(set) var answers = 0

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count - sent }
    var hasNoPlaintext: Bool { plaintext == 0 }

    mutating func keep(_ records: Slice<UnsafeRawBufferPointer>, of plaintext: Int) {
        unsafe bytes += records
        self.plaintext += plaintext
        if plaintext == 0 { unsafe answers += records.count }
    }

    /// Sends what the transport takes.
    mutating func send(to transport: any Transport) -> IOResult {
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe transport.send(UnsafeRawBufferPointer(rebasing: bytes[sent...]), more: false)
        }
        guard case .done(let count) = result else { return result }
        sent += count
        if sent == bytes.count {
            bytes = []
            sent = 0
            answers = 0
        }
        return result
    }

    /// How much plaintext has gone; asked once everything has.
    mutating func takePlaintext() -> Int {
        defer { plaintext = 0 }
        return plaintext
    }
}
