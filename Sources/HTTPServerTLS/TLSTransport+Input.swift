internal import CTLSShims
internal import HTTPParser
internal import ToolkitSystem

// Input after the handshake.
extension TLSTransport {
    // MARK: By OpenSSL

    /// Decrypts input with OpenSSL, which has the records in TLS 1.2 and if the record layer cannot
    /// take them over.
    /// - Parameter hasOffer: whether OpenSSL has ciphertext already.
    func decrypt(
        into target: UnsafeMutableRawBufferPointer, hasOffer: Bool = false
    ) -> IOResult {
        var total = 0
        var end: IOResult?
        if !hasOffer, unsafe !input.isEmpty {
            unsafe room.offer(input)
            unsafe input = []
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
                // Another call of OpenSSL would find nothing.
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
        return finishInput(total, end)
    }

    /// Keeps the bytes that were not decrypted, and returns the result of a read.
    private func finishInput(_ total: Int, _ end: IOResult?) -> IOResult {
        if let end, total == 0, end != .wouldBlock {
            // All connections of the loop share the buffer: bytes after the end of this one must
            // not become input of the next one.
            _ = room.takeRest()
            flushRoom()
            return end
        }
        if room.hasInput { unsafe input = room.takeRest() }
        flushRoom()
        // The poller does not report bytes that have left the system's buffer.
        if hasInput || (end != nil && total > 0) { reportInput() }
        return total > 0 ? .done(total) : .wouldBlock
    }

    /// The result of a read that brought no bytes; `nil` if there are bytes to decrypt.
    private func endOfRead(_ result: IOResult) -> IOResult? {
        switch result {
        case .done(0):
            // Without close_notify this may be a truncation. The connection treats every end within
            // a request as a loss, so the difference does not matter.
            phase = .ended
            return .done(0)
        case .done: return nil
        case .wouldBlock: return .wouldBlock
        case .failed:
            phase = .failed
            return result
        }
    }

    // MARK: By the record layer

    /// Decrypts input with the record layer.
    /// - Parameter hasOffer: whether the shared buffer has ciphertext already.
    func openRecords(
        into target: UnsafeMutableRawBufferPointer, hasOffer: Bool = false
    ) -> IOResult {
        if !hasOffer {
            unsafe room.offer(input)
            unsafe input = []
        }
        var total = unsafe takePlaintext(into: target)
        var end: IOResult?
        var mayRead = true
        do throws(RecordLayer.Failure) {
            while total < target.count, end == nil {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[total...])
                if let size = try unsafe RecordLayer.sizeOfFirst(in: room.unread) {
                    let (count, isEnd) = try unsafe openFirst(size, into: rest)
                    total += count
                    if isEnd { end = .done(0) }
                    continue
                }
                // One read of the system for each event, so that others get their turn.
                guard mayRead, total == 0 else { break }
                mayRead = false
                end = endOfRead(room.fill(from: lower))
            }
        } catch {
            end = fail("a record is invalid", error)
        }
        return finishInput(total, end)
    }

    /// Decrypts the first record of the shared buffer.
    /// - Returns: the number of bytes that were written to `target`, and whether the peer has ended
    ///   its data.
    private func openFirst(
        _ size: Int, into target: UnsafeMutableRawBufferPointer
    ) throws(RecordLayer.Failure) -> (count: Int, isEnd: Bool) {
        guard let records else { return (0, true) }
        let record = unsafe room.takeFirst(size)
        // Content that fits is decrypted into `target`, without a copy.
        let fits = RecordLayer.innerSize(of: size) <= target.count
        let text =
            unsafe fits
            ? target : UnsafeMutableRawBufferPointer(rebasing: record[RecordLayer.headerSize...])
        guard let base = text.baseAddress else { return (0, false) }
        switch try unsafe records.open(UnsafeRawBufferPointer(record), into: base) {
        case .data(let count):
            if fits { return (count, false) }
            unsafe plaintext.append(UnsafeRawBufferPointer(rebasing: text[..<count]))
            return unsafe (takePlaintext(into: target), false)
        case .nothing: return (0, false)
        case .keyUpdate(let isRequest):
            // Nothing follows close_notify (section 6.1).
            if isRequest, !flags.saidEnd {
                try putHeldFirst()
                try records.updateKeys(into: room)
            }
            return (0, false)
        case .end:
            phase = .ended
            return (0, true)
        }
    }

    private func takePlaintext(into target: UnsafeMutableRawBufferPointer) -> Int {
        guard unsafe !plaintext.isEmpty else { return 0 }
        let count = unsafe min(target.count, plaintext.count)
        unsafe target.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: plaintext.unsafeBytes[..<count]))
        unsafe plaintext.consume(count)
        if unsafe plaintext.isEmpty { unsafe plaintext = ByteBuffer() }
        return count
    }

    // MARK: Input without an event

    var hasInput: Bool {
        guard records == nil else { return unsafe !plaintext.isEmpty || hasRecord }
        return unsafe !flags.waitsForTurn && (!input.isEmpty || http_tls_pending(connection) > 0)
    }

    /// Whether the kept input begins with a record, or with bytes that must be refused.
    private var hasRecord: Bool {
        guard unsafe !input.isEmpty else { return false }
        do {
            return try unsafe input.withUnsafeBytes { try unsafe RecordLayer.sizeOfFirst(in: $0) }
                != nil
        } catch {
            return true
        }
    }

    func reportInput() {
        isReady = true
        guard !flags.reportsInput, interest.contains(.read), let owner else { return }
        flags.reportsInput = true
        owner.later { [self] in
            flags.reportsInput = false
            // `isReady` stays set until the connection reads.
            guard isReady, interest.contains(.read), let owner = self.owner else { return }
            owner.inputIsReady()
        }
    }
}
