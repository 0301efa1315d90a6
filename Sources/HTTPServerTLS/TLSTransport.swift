internal import CTLSShims
internal import HTTPParser
internal import ToolkitSystem

/// TLS between a transport and a connection (RFC 8446). Confined to the connection's loop.
///
/// Plaintext counts as sent only when the system has accepted all of its records. Until then `send`
/// returns `.wouldBlock`, and its caller calls it again with the same bytes.
@safe
final class TLSTransport: Transport, @unchecked Sendable {
    enum Phase {
        /// Nothing was received yet: the first byte distinguishes TLS from plain HTTP.
        case first
        case handshake
        case open
        /// The peer uses HTTP without TLS.
        case plain(PlainExchange)
        /// The peer sends no more data. Its requests can still be answered (RFC 8446 section 6.1).
        case ended
        /// The peer has disconnected before the end of the handshake.
        case over
        case failed
    }

    let lower: any Transport
    /// Set to `nil` by `close`.
    private(set) var owner: (any TransportOwner)?
    /// OpenSSL's object for the connection; `nil` after `records` has replaced it.
    private(set) var connection: UnsafeMutableRawPointer?
    /// The record layer after a handshake of TLS 1.3; `nil` while OpenSSL has the records.
    var records: RecordLayer?
    /// The table must outlive OpenSSL's object, which refers to it.
    private let table: CertificateTable
    let room: TLSRoom
    var phase = Phase.first
    /// Ciphertext that was received and not decrypted yet.
    @exclusivity(unchecked)
    var input: [UInt8] = []
    /// Decrypted bytes that did not fit into the connection's buffer.
    @exclusivity(unchecked)
    var plaintext = ByteBuffer()
    @exclusivity(unchecked)
    var output = PendingRecords()
    /// The tickets of the handshake, which are sent with the answer to the first request.
    private var held: [UInt8] = []
    var isReady = false
    var flags = Flags()
    /// Whether HTTP without TLS is redirected.
    let redirects: Bool
    private(set) var interest: PollInterest = .read

    struct Flags {
        /// A call of `TransportOwner.inputIsReady` is scheduled.
        var reportsInput = false
        /// The handshake waits for the steps of others.
        var waitsForTurn = false
        /// The bytes of the next `send` are the last ones.
        var endsWithNext = false
        /// close_notify was written.
        var saidEnd = false
        var shutsDown = false
        var closesByReset = false
    }

    init(
        over lower: any Transport, owner: any TransportOwner, table: CertificateTable,
        room: TLSRoom, redirects: Bool
    ) {
        self.lower = lower
        self.owner = owner
        self.table = table
        self.room = room
        self.redirects = redirects
        unsafe connection = http_tls_open(table.first.pointer, room.shared)
        room.opened()
        if unsafe connection == nil { phase = .failed }
    }

    deinit {
        unsafe http_tls_free(connection)
        room.closed()
    }

    // MARK: Input

    func receive(into target: UnsafeMutableRawBufferPointer) -> IOResult {
        isReady = false
        switch phase {
        case .open:
            return records == nil ? unsafe decrypt(into: target) : unsafe openRecords(into: target)
        case .first, .handshake: return unsafe shakeHands(into: target)
        case .plain(let exchange): return receivePlain(exchange)
        case .ended, .over: return .done(0)
        case .failed: return .invalidInput
        }
    }

    // MARK: Output

    private var canSend: Bool {
        switch phase {
        case .open, .ended: true
        default: false
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult {
        if let result = flushPending() { return result }
        guard canSend else { return .invalidInput }
        var total = 0
        while total < bytes.count {
            let part = min(bytes.count - total, PendingRecords.streamBatch)
            let next = unsafe UnsafeRawBufferPointer(rebasing: bytes[total..<(total + part)])
            let hasMore = more || total + part < bytes.count
            guard let result = unsafe encrypt(next, more: hasMore) else {
                total += part
                continue
            }
            return total > 0 ? .done(total) : result
        }
        return .done(total)
    }

    func sendFile(_ file: CInt, offset: Int64, count: Int64) -> IOResult {
        if let result = flushPending() { return result }
        guard canSend else { return .invalidInput }
        var total: Int64 = 0
        while total < count {
            let part = Int(min(count - total, Int64(TLSRoom.fileSize)))
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: room.file[..<part])
            let read = unsafe Syscalls.read(file, target, at: offset + total)
            guard case .done(let got) = read, got > 0 else {
                return total > 0 ? .done(Int(total)) : read
            }
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: target[..<got])
            let result = unsafe encrypt(bytes, more: total + Int64(got) < count)
            if let result { return total > 0 ? .done(Int(total)) : result }
            total += Int64(got)
        }
        return .done(Int(total))
    }

    /// Encrypts and sends a batch of bytes.
    /// - Returns: `nil` if the system has accepted all records.
    private func encrypt(_ bytes: UnsafeRawBufferPointer, more: Bool) -> IOResult? {
        let alert: UInt8? = flags.endsWithNext && !more ? 0 : nil
        if let failure = unsafe write(bytes, alert: alert) {
            return fail("a record could not be made", failure)
        }
        defer { room.clearOutput() }
        let records = unsafe room.output
        switch unsafe lower.send(records, more: more) {
        case .done(records.count): return nil
        case .done(let sent): unsafe output.keep(records[sent...], of: bytes.count)
        case .wouldBlock: unsafe output.keep(records[...], of: bytes.count)
        case .failed(let code): return .failed(code)
        }
        lower.watch(watched)
        return .wouldBlock
    }

    /// Appends application data to the shared output, and an alert after it.
    /// - Parameter alert: 0 for close_notify. Other alerts are written only for the record layer,
    ///   because OpenSSL writes its own.
    /// - Returns: the failure, or `nil`.
    private func write(
        _ bytes: UnsafeRawBufferPointer, alert: UInt8? = nil
    ) -> RecordLayer.Failure? {
        if alert == 0 { flags.saidEnd = true }
        guard let records else {
            let written =
                unsafe bytes.isEmpty
                || http_tls_write(connection, bytes.baseAddress, bytes.count) == bytes.count
            guard written else { return failure }
            if alert == 0 { unsafe http_tls_shutdown(connection) }
            return nil
        }
        let before = unsafe room.output.count
        do throws(RecordLayer.Failure) {
            try putHeldFirst()
            try unsafe records.seal(bytes, into: room)
            if let alert { try records.seal(alert: alert, into: room) }
            return nil
        } catch {
            // All connections of the loop share the output.
            room.dropOutput(after: before)
            return error
        }
    }

    private func write(alert: UInt8? = nil) -> RecordLayer.Failure? {
        unsafe write(UnsafeRawBufferPointer(start: nil, count: 0), alert: alert)
    }

    /// Appends the held tickets to the shared output. Their records must precede all others.
    func putHeldFirst() throws(RecordLayer.Failure) {
        guard !held.isEmpty else { return }
        guard room.append(held) else { throw .library }
        held = []
    }

    /// Holds the tickets in the shared output back, to send them with the answer to a request that
    /// arrived with the end of the handshake.
    func holdTicket() {
        guard unsafe output.isEmpty else { return flushRoom() }
        held = unsafe Array(room.output)
        room.clearOutput()
    }

    /// Sends the held tickets, unless an answer has included them.
    func sendHeld() {
        guard !held.isEmpty, owner != nil, write() == nil else { return }
        flushRoom()
    }

    /// Sends pending records.
    /// - Returns: the result for the caller of `send`; `nil` if nothing was pending, or the records
    ///   contained no plaintext and were sent.
    private func flushPending() -> IOResult? {
        guard unsafe !output.isEmpty else { return nil }
        if case .failed(let code) = unsafe output.send(to: lower) { return .failed(code) }
        guard unsafe output.isEmpty else { return .wouldBlock }
        lower.watch(watched)
        let plain = unsafe output.takePlaintext()
        return plain > 0 ? .done(plain) : nil
    }

    /// Sends output without application data: handshakes, tickets, alerts, answers to key updates.
    func flushRoom() {
        let records = unsafe room.output
        guard records.count > 0 else { return }
        defer { room.clearOutput() }
        var sent = 0
        if unsafe output.isEmpty {
            switch unsafe lower.send(records, more: false) {
            case .done(let count): sent = count
            case .wouldBlock: break
            case .failed:
                phase = .failed
                return reportInput()
            }
        }
        guard sent < records.count else { return }
        // The peer causes answers and does not read them.
        guard unsafe output.answers < PendingRecords.limit else {
            phase = .failed
            return reportInput()
        }
        unsafe output.keep(records[sent...], of: 0)
        lower.watch(watched)
    }

    func becameWritable() {
        guard unsafe !output.isEmpty, unsafe output.hasNoPlaintext else { return }
        if case .failed = unsafe output.send(to: lower) {
            // No caller waits for these bytes, so report the failure when the connection reads.
            unsafe output = PendingRecords()
            phase = .failed
            lower.watch(watched)
            return reportInput()
        }
        guard unsafe output.isEmpty else { return }
        lower.watch(watched)
        if flags.shutsDown { lower.shutdownWriting() }
    }

    var receivedBytes: Int64 { lower.receivedBytes }

    /// Includes the pending records, in bytes.
    var unacknowledgedBytes: Int? { lower.unacknowledgedBytes.map { unsafe $0 + output.count } }

    // MARK: Readiness

    /// The readiness for which the layer below has to watch.
    var watched: PollInterest {
        var watched = interest
        if unsafe !output.isEmpty { watched.insert(.write) }
        if isReadAheadFull || isPlainFull { watched.remove(.read) }
        return watched
    }

    func watch(_ interest: PollInterest) {
        self.interest = interest
        lower.watch(watched)
        if isReady || hasInput { reportInput() }
    }

    // MARK: The end

    func shutdownWriting() {
        sendCloseNotify()
        guard unsafe output.isEmpty else {
            flags.shutsDown = true
            return
        }
        lower.shutdownWriting()
    }

    /// Sends close_notify, unless the connection ends by a reset: without close_notify the peer
    /// sees that the stream is truncated (RFC 8446 section 6.1).
    private func sendCloseNotify() {
        guard canSend, !flags.closesByReset, !flags.saidEnd else { return }
        guard write(alert: 0) == nil else {
            phase = .failed
            return
        }
        flushRoom()
    }

    func sendsLast() { flags.endsWithNext = true }

    func closesByReset() {
        flags.closesByReset = true
        lower.closesByReset()
    }

    func close() {
        sendCloseNotify()
        owner = nil
        lower.close()
    }

    /// The reason why the last call of OpenSSL failed. OpenSSL has already written an alert.
    private var failure: RecordLayer.Failure {
        var text = [CChar](repeating: 0, count: 128)
        unsafe http_tls_last_error(&text, text.count)
        let reason = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return RecordLayer.Failure(alert: nil, reason: reason)
    }

    /// Ends the connection with a failure: sends an alert and reports the cause.
    /// - Parameter cause: the cause; `nil` for OpenSSL's last error.
    func fail(_ what: String, _ cause: RecordLayer.Failure? = nil) -> IOResult {
        let cause = cause ?? failure
        if let alert = cause.alert { _ = write(alert: alert) }
        flushRoom()
        phase = .failed
        _ = room.takeRest()
        owner?.noteFailure("\(what): \(cause.reason)")
        return .invalidInput
    }

    func freeConnection() {
        unsafe http_tls_free(connection)
        unsafe connection = nil
    }
}
