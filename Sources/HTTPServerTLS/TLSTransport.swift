internal import CTLSShims
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
    private let connection: UnsafeMutableRawPointer?
    /// It must outlive the connection.
    private let table: CertificateTable
    let room: TLSRoom
    var phase = Phase.first
    /// Ciphertext that was received and not decrypted yet.
    private var input: [UInt8] = []
    private var output = PendingRecords()
    private var isReady = false
    private var flags = Flags()
    /// Whether HTTP without TLS is answered by a redirection.
    let redirects: Bool
    private(set) var interest: PollInterest = .read

    private struct Flags {
        /// `TransportOwner.inputIsReady` is about to be called.
        var reportsInput = false
        /// Another handshake has to make its step before.
        var waitsForTurn = false
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
        switch phase {
        case .open: return unsafe decrypt(into: target)
        case .first, .handshake: return unsafe shakeHands(into: target)
        case .plain(let exchange): return receivePlain(exchange)
        case .ended, .over: return .done(0)
        case .failed: return .invalidInput
        }
    }

    /// Has OpenSSL read what came.
    func readLower() -> IOResult {
        let result = unsafe lower.receive(into: room.input)
        if case .done(let count) = result { room.offer(count) }
        return result
    }

    private func shakeHands(into target: UnsafeMutableRawBufferPointer) -> IOResult {
        guard let owner else { return .wouldBlock }
        guard !flags.waitsForTurn, room.admitsStep(of: self, owner) else {
            flags.waitsForTurn = true
            return readAhead()
        }
        if input.isEmpty {
            let result = endOfHandshake(readLower())
            guard case .done(1...) = result else { return result }
        } else {
            room.offer(input)
            input = []
        }
        if case .first = phase {
            // The type of a record with a handshake (RFC 8446 section 5.1).
            guard unsafe room.input[0] == 22 else { return beginPlain() }
            phase = .handshake
        }
        let result = unsafe http_tls_handshake(connection)
        guard result != Int(HTTP_TLS_WANTS_INPUT) else {
            flushRoom()
            return .wouldBlock
        }
        guard result == 0 else { return fail("the handshake failed") }
        flushRoom()
        phase = .open
        if let connection = unsafe connection {
            let info = unsafe room.shared(TLSInfo(of: connection))
            owner.learn { $0.security = info }
        }
        // The first request often comes with the end of the handshake.
        return unsafe decrypt(into: target, hasOffer: true)
    }

    /// Reads input of a handshake that waits for its turn, so that the poller has nothing to report:
    /// that costs less than having it look away and back.
    private func readAhead() -> IOResult {
        let space = Self.readAheadLimit - input.count
        guard space > 0 else { return .wouldBlock }
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room.input[..<space])
        let result = unsafe endOfHandshake(lower.receive(into: part))
        guard case .done(let count) = result, count > 0 else { return result }
        unsafe input += part[..<count]
        if isReadAheadFull { lower.watch(watched) }
        return .wouldBlock
    }

    private func endOfHandshake(_ result: IOResult) -> IOResult {
        if case .done(0) = result { phase = .over }
        return result
    }

    /// The most bytes of a handshake that waits for its turn; most have no more at a time.
    private static let readAheadLimit = 4 << 10
    private var isReadAheadFull: Bool {
        flags.waitsForTurn && input.count >= Self.readAheadLimit
    }

    /// The owner of the room gives a handshake that had to wait its turn.
    func takeTurn() {
        let wasFull = isReadAheadFull
        flags.waitsForTurn = false
        guard let owner else { return }
        if wasFull { lower.watch(watched) }
        owner.inputIsReady()
    }

    /// - Parameter hasOffer: whether OpenSSL has ciphertext already.
    private func decrypt(
        into target: UnsafeMutableRawBufferPointer, hasOffer: Bool = false
    ) -> IOResult {
        var total = 0
        var end: IOResult?
        if !hasOffer, !input.isEmpty {
            room.offer(input)
            input = []
        }
        var mayRead = true
        if !hasOffer, !room.hasInput, unsafe http_tls_pending(connection) == 0 {
            mayRead = false
            end = endOfRead(readLower())
        }
        while total < target.count, end == nil {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[total...])
            let count = unsafe http_tls_read(connection, rest.baseAddress, rest.count)
            if count > 0 {
                total += count
                // Asking OpenSSL once more would only find nothing.
                if !room.hasInput, unsafe http_tls_pending(connection) == 0 { break }
            } else if count == Int(HTTP_TLS_WANTS_INPUT) {
                // One read of the system for each event, so that others get their turn.
                guard mayRead, total == 0 else { break }
                mayRead = false
                end = endOfRead(readLower())
            } else if count == Int(HTTP_TLS_ENDED) {
                phase = .ended
                end = .done(0)
            } else {
                end = fail("a record is invalid")
            }
        }
        if let end, total == 0 {
            // The room is that of all connections of the loop: bytes behind the end of this one must
            // not be taken for the next one's.
            _ = room.takeRest()
            flushRoom()
            return end
        }
        input = room.takeRest()
        flushRoom()
        // The poller reports none of what has left the system's buffer.
        if end != nil || hasInput { reportInput() }
        return total > 0 ? .done(total) : .wouldBlock
    }

    /// - Returns: `nil` when there is something to decrypt.
    private func endOfRead(_ result: IOResult) -> IOResult? {
        switch result {
        case .done(0):
            // Without close_notify it may be a truncation. The connection takes every end within a
            // request for a loss, so both are the same to it.
            phase = .ended
            return .done(0)
        case .done: return nil
        case .wouldBlock: return .wouldBlock
        case .failed:
            phase = .failed
            return result
        }
    }

    private var hasInput: Bool {
        unsafe !flags.waitsForTurn && (!input.isEmpty || http_tls_pending(connection) > 0)
    }

    private func reportInput() {
        isReady = true
        guard !flags.reportsInput, interest.contains(.read), let owner else { return }
        flags.reportsInput = true
        owner.later { [self] in
            flags.reportsInput = false
            guard isReady, interest.contains(.read), let owner = self.owner else { return }
            isReady = false
            owner.inputIsReady()
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
        guard unsafe http_tls_write(connection, bytes.baseAddress, bytes.count) == bytes.count
        else { return fail("a record could not be made") }
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

    /// Sends records that the system has not taken before.
    /// - Returns: what to answer, `nil` when there is nothing to wait for or to report.
    private func flushPending() -> IOResult? {
        guard !output.isEmpty else { return nil }
        if case .failed(let code) = output.send(to: lower) { return .failed(code) }
        guard output.isEmpty else { return .wouldBlock }
        lower.watch(watched)
        let plain = output.takePlaintext()
        return plain > 0 ? .done(plain) : nil
    }

    /// Sends what belongs to no plaintext: handshakes, alerts, answers to key updates.
    private func flushRoom() {
        let records = unsafe room.output
        guard records.count > 0 else { return }
        defer { room.clearOutput() }
        var sent = 0
        if output.isEmpty, case .done(let count) = unsafe lower.send(records, more: false) {
            sent = count
        }
        guard sent < records.count else { return }
        // A peer that has us answer and does not read the answers.
        guard output.count < PendingRecords.limit else {
            phase = .failed
            return
        }
        unsafe output.keep(records[sent...], of: 0)
        lower.watch(watched)
    }

    func becameWritable() {
        guard !output.isEmpty, output.hasNoPlaintext else { return }
        // A failure shows at the next call of the connection.
        _ = output.send(to: lower)
        guard output.isEmpty else { return }
        lower.watch(watched)
        if flags.shutsDown { lower.shutdownWriting() }
    }

    // MARK: Readiness

    /// The readiness that the layer below has to watch for.
    var watched: PollInterest {
        var watched = interest
        if !output.isEmpty { watched.insert(.write) }
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
        guard output.isEmpty else {
            flags.shutsDown = true
            return
        }
        lower.shutdownWriting()
    }

    /// A stream that is cut off gets none: the peer can see that it is truncated (RFC 8446 section
    /// 6.1).
    private func sendCloseNotify() {
        guard canSend, !flags.closesByReset, !flags.shutsDown else { return }
        flags.shutsDown = true
        unsafe http_tls_shutdown(connection)
        flushRoom()
    }

    func closesByReset() {
        flags.closesByReset = true
        lower.closesByReset()
    }

    func close() {
        sendCloseNotify()
        owner = nil
        lower.close()
    }

    private func fail(_ what: String) -> IOResult {
        var text = [CChar](repeating: 0, count: 128)
        unsafe http_tls_last_error(&text, text.count)
        let reason = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        flushRoom()
        phase = .failed
        _ = room.takeRest()
        owner?.noteFailure("\(what): \(reason)")
        return .invalidInput
    }
}
