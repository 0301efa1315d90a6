internal import ToolkitSystem

/// Records that the system has not accepted yet.
struct PendingRecords {
    /// The bytes of plaintext that are encrypted for one system call. Larger batches need fewer
    /// calls, but a batch stays in memory if the peer does not read.
    static let streamBatch = 64 << 10
    /// The most bytes of `answers` that are kept for a peer that does not read.
    static let limit = 256 << 10

    private var bytes: [UInt8] = []
    private var sent = 0
    /// The bytes of plaintext in the records.
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

    /// Sends as many bytes as the transport accepts.
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

    /// Returns the bytes of plaintext that were sent, and resets them. Call it when everything was
    /// sent.
    mutating func takePlaintext() -> Int {
        defer { plaintext = 0 }
        return plaintext
    }
}
