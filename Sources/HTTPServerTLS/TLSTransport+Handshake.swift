internal import CTLSShims
internal import ToolkitSystem

// The handshake.
extension TLSTransport {
    /// Receives ciphertext into the shared buffer, from which OpenSSL reads.
    func readLower() -> IOResult {
        let result = unsafe lower.receive(into: room.input)
        if case .done(let count) = result { room.offer(count) }
        return result
    }

    func shakeHands(into target: UnsafeMutableRawBufferPointer) -> IOResult {
        guard let owner else { return .wouldBlock }
        guard !flags.waitsForTurn, room.admitsStep(of: self, owner) else {
            flags.waitsForTurn = true
            return readAhead()
        }
        if unsafe input.isEmpty {
            let result = endOfHandshake(readLower())
            guard case .done(1...) = result else { return result }
        } else {
            unsafe room.offer(input)
            unsafe input = []
        }
        if case .first = phase {
            // 22 is the type of a handshake record (RFC 8446 section 5.1).
            guard unsafe room.input[0] == 22 else { return beginPlain() }
            phase = .handshake
        }
        let result = unsafe http_tls_handshake(connection)
        guard result != Int(HTTP_TLS_WANTS_INPUT) else {
            flushRoom()
            return .wouldBlock
        }
        guard result == 0 else { return fail("the handshake failed") }
        phase = .open
        if let connection = unsafe connection {
            let info = unsafe room.shared(TLSInfo(of: connection))
            owner.learn { $0.security = info }
        }
        // The first request often arrives with the end of the handshake, or while it is processed.
        guard takeOver() else {
            flushRoom()
            return unsafe decrypt(into: target, hasOffer: true)
        }
        holdTicket()
        let request = unsafe openRecords(into: target, hasOffer: true)
        if case .done(1...) = request {
            owner.later { [self] in sendHeld() }
        } else {
            sendHeld()
        }
        return request
    }

    /// Replaces OpenSSL by the record layer.
    /// - Returns: `false` if OpenSSL must keep the records.
    private func takeOver() -> Bool {
        guard let connection = unsafe connection,
            // The last step of a handshake sends only tickets, with the connection's keys.
            let layer = unsafe RecordLayer(after: connection, sent: room.countRecords())
        else { return false }
        records = layer
        freeConnection()
        return true
    }

    /// Reads the input of a handshake that waits for its turn, so that the poller does not report
    /// it again. This costs less than changing the poller's interest twice.
    private func readAhead() -> IOResult {
        let space = unsafe Self.readAheadLimit - input.count
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

    /// The most bytes that are read for a waiting handshake; most handshakes do not send more at a
    /// time.
    private static let readAheadLimit = 4 << 10
    var isReadAheadFull: Bool {
        unsafe flags.waitsForTurn && input.count >= Self.readAheadLimit
    }

    /// Continues a handshake that had to wait for its turn.
    /// - Returns: `false` after `close`: the turn is not used.
    func takeTurn() -> Bool {
        let wasFull = isReadAheadFull
        flags.waitsForTurn = false
        guard let owner else { return false }
        if wasFull { lower.watch(watched) }
        owner.inputIsReady()
        return true
    }
}
