internal import CTLSShims
internal import HTTPParser
internal import ToolkitSystem

/// TLS between a transport and a connection (RFC 8446). It is confined to the connection's loop.
///
/// Plaintext that was given away counts as taken once its records are with the system: so long
/// `send` answers that it would block, and its caller asks again with the same bytes.
@safe
final class TLSTransport: Transport, @unchecked Sendable {
    enum Phase {
        /// Nothing has come yet: the first byte tells TLS from plain HTTP.
        case first
        case handshake
        case open
        /// The peer speaks HTTP without TLS.
        case plain(PlainExchange)
        /// The peer sends no more. Its requests can still be answered (RFC 8446 section 6.1).
        case ended
        /// The peer has gone before the end of its handshake.
        case over
        case failed
    }

    let lower: any Transport
    /// Set to `nil` by `close`.
    private(set) var owner: (any TransportOwner)?
    /// OpenSSL's side; `nil` once `records` takes over.
    private(set) var connection: UnsafeMutableRawPointer?
    /// The record layer after a handshake of TLS 1.3; `nil` for TLS 1.2.
    var records: RecordLayer?
    /// It must outlive the connection.
    private let table: CertificateTable
    let room: TLSRoom
    var phase = Phase.first
    /// Ciphertext that was received and not decrypted yet.
    @exclusivity(unchecked)
    var input: [UInt8] = []
    /// Plaintext that did not fit into the room of the connection.
    @exclusivity(unchecked)
    var plaintext = ByteBuffer()
    @exclusivity(unchecked)
    var output = PendingRecords()
    /// The ticket of the handshake, which goes out with the answer to the first request.
    private var held: [UInt8] = []
    var isReady = false
    var flags = Flags()
    /// Whether HTTP without TLS is answered by a redirection.
    let redirects: Bool
    private(set) var interest: PollInterest = .read

    struct Flags {
        /// `TransportOwner.inputIsReady` is about to be called.
        var reportsInput = false
        /// Another handshake has to make its step before.
        var waitsForTurn = false
        /// The bytes of the next `send` are the last ones.
        var endsWithNext = false
        /// close_notify was made.
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

    /// Sends a batch of records.
    /// - Returns: `nil` when the system has taken all of it.
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

    /// Puts application data into the room's output, and an alert behind it.
    /// - Parameter alert: 0 for close_notify; OpenSSL makes all others by itself.
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
            // The room is that of all connections of the loop.
            room.dropOutput(after: before)
            return error
        }
    }

    private func write(alert: UInt8? = nil) -> RecordLayer.Failure? {
        unsafe write(UnsafeRawBufferPointer(start: nil, count: 0), alert: alert)
    }

    /// Puts the ticket into the room's output, whose record comes before all others.
    func putHeldFirst() throws(RecordLayer.Failure) {
        guard !held.isEmpty else { return }
        guard room.append(held) else { throw .library }
        held = []
    }

    /// Has the ticket in the room's output wait for the answer to a request that came with the end of
    /// the handshake.
    func holdTicket() {
        guard unsafe output.isEmpty else { return flushRoom() }
        held = unsafe Array(room.output)
        room.clearOutput()
    }

    /// Sends the ticket that no answer took along.
    func sendHeld() {
        guard !held.isEmpty, owner != nil, write() == nil else { return }
        flushRoom()
    }

    /// Sends records that the system has not taken before.
    /// - Returns: what to answer, `nil` when there is nothing to wait for or to report.
    private func flushPending() -> IOResult? {
        guard unsafe !output.isEmpty else { return nil }
        if case .failed(let code) = unsafe output.send(to: lower) { return .failed(code) }
        guard unsafe output.isEmpty else { return .wouldBlock }
        lower.watch(watched)
        let plain = unsafe output.takePlaintext()
        return plain > 0 ? .done(plain) : nil
    }

    /// Sends what belongs to no plaintext: handshakes, alerts, answers to key updates.
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
        // A peer that has us answer and does not read the answers.
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
            // Nobody waits for these bytes: the failure shows when the connection reads.
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

    /// Records that wait here count as well: a part of them may have gone.
    var unacknowledgedBytes: Int? { lower.unacknowledgedBytes.map { unsafe $0 + output.count } }

    // MARK: Readiness

    /// The readiness that the layer below has to watch for.
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

    /// A stream that is cut off gets none: the peer can see that it is truncated (RFC 8446 section
    /// 6.1).
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

    /// Why the last call of OpenSSL failed. It has made an alert itself.
    private var failure: RecordLayer.Failure {
        var text = [CChar](repeating: 0, count: 128)
        unsafe http_tls_last_error(&text, text.count)
        let reason = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return RecordLayer.Failure(alert: nil, reason: reason)
    }

    /// - Parameter cause: `nil` for OpenSSL's.
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
