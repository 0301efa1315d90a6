internal import HTTPParser
internal import ToolkitSystem
internal import WebSocketConnections

// Moves the bytes of the connection, and answers libcurl's callbacks while it connects.
extension WebSocketRunner: SocketWatcher {
    func socketReady() { move() }

    /// Sends and receives as much as possible. Must not be called from within a call of the
    /// connection.
    func move() {
        guard socket >= 0, !flow.isReading else { return }
        flow.isReading = true
        send()
        reportRoom()
        receive()
        flow.isReading = false
        settle()
    }

    /// Handles the end of the connection, or waits for further input and output.
    private func settle() {
        if flow.isBroken { return broken() }
        if case .finishing(let leavesInput) = stage, !leavesInput, unsafe output.isEmpty {
            return end()
        }
        watch()
    }

    private func watch() {
        guard socket >= 0 else { return }
        var wanted = wantsInput ? SocketEvents.read : .none
        if unsafe !output.isEmpty { wanted.insert(.write) }
        guard wanted != flow.watched else { return }
        flow.watched = wanted
        loop.multi?.watch(socket, wanted, by: self)
    }

    private func broken() {
        switch stage {
        case .connecting, .handshaking:
            let text = "the server ended the connection within the handshake"
            fail(ClientError(.connectionLost, text))
        default: end()
        }
    }

    // MARK: output

    private func send() {
        let before = unsafe output.count
        if let handle, !flow.isMute, unsafe output.send(by: handle) {
            return noteOutput(hasProgress: unsafe output.count < before)
        }
        flow.isMute = true
        flow.outputEnd = .max
        unsafe output.removeAll()
        if case .open(let connection) = stage { connection.outputBroke() }
    }

    /// Sets the deadline for progress. A server that keeps the connection open without reading
    /// would block `send` for ever: pings wait after the output, so no missing pong ends the
    /// connection.
    private func noteOutput(hasProgress: Bool) {
        guard unsafe !output.isEmpty else {
            flow.outputEnd = .max
            return
        }
        guard hasProgress || flow.outputEnd == .max else { return }
        let (end, overflows) = loop.now.addingReportingOverflow(limits.idle)
        flow.outputEnd = overflows ? .max : end
        loop.look(at: flow.outputEnd)
    }

    private func reportRoom() {
        guard case .open(let connection) = stage, unsafe output.isNews else { return }
        unsafe output.isNews = false
        connection.hasRoom()
    }

    // MARK: input

    private var wantsInput: Bool {
        switch stage {
        case .handshaking: true
        case .open(let connection): connection.wantsInput
        case .finishing(let leavesInput): leavesInput
        case .idle, .asking, .resolving, .connecting, .over: false
        }
    }

    /// Reads until nothing is left, because TLS may buffer bytes that the poller cannot see. After
    /// 16 rounds, other tasks run first.
    private func receive() {
        var rounds = 16
        while let handle, wantsInput, !flow.isBroken {
            guard rounds > 0 else {
                loop.post { self.move() }
                return
            }
            rounds -= 1
            let room = unsafe loop.webSockets.room
            switch unsafe handle.receive(into: room) {
            case .bytes(let count):
                unsafe take(UnsafeMutableRawBufferPointer(rebasing: room[..<count]))
            case .later: return
            case .ended: flow.isBroken = true
            }
        }
    }

    private func take(_ bytes: UnsafeMutableRawBufferPointer) {
        switch stage {
        case .handshaking: unsafe received(handshake: UnsafeRawBufferPointer(bytes))
        case .open(let connection): unsafe connection.receive(bytes)
        case .finishing, .idle, .asking, .resolving, .connecting, .over: break
        }
    }
}

extension WebSocketRunner: WebSocketCarrier {
    var waitingBytes: Int { unsafe output.count }

    func write(_ body: (inout ByteBuffer) -> Void) { unsafe output.write(body) }

    /// Sends as much as possible immediately. A broken connection is detected by reading.
    func flush() {
        guard socket >= 0 else { return unsafe output.removeAll() }
        send()
        if case .open(let connection) = stage, connection.waitsForRoom {
            // When all of the output was sent, the poller reports nothing.
            if unsafe output.isNews { loop.post { self.move() } }
        } else {
            unsafe output.isNews = false
        }
        if !flow.isReading { watch() }
    }

    /// Reads more input. While input is being read, the call does nothing, because reading
    /// continues anyway.
    func readOn() {
        guard !flow.isReading else { return }
        loop.post { self.move() }
    }

    func deadlineChanged() {
        guard case .open(let connection) = stage, connection.deadline != .max else { return }
        loop.look(at: Int64(clamping: connection.deadline))
    }

    func finish(leavesInput: Bool) { beginFinishing(leavesInput: leavesInput) }
}

extension ClientLoop: WebSocketLoop {
    var monotonicTime: UInt64 { UInt64(max(0, now)) }

    /// Always false: Swift tasks never run on the loop, and calls on the loop do not use this
    /// property.
    var isEntered: Bool { false }

    func hand(_ work: @escaping @Sendable () -> Void) -> Bool { post(work) }

    func handAfterTasks(_ work: @escaping @Sendable () -> Void) { post(work) }
}
