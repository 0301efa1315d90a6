/// The WebSockets of a loop. Use it only on the thread that runs the loop.
@safe
final class WebSocketSet {
    private var runners: [ObjectIdentifier: any WebSocketMember] = [:]
    private var made: UnsafeMutableRawBufferPointer?

    deinit {
        unsafe made?.deallocate()
    }

    /// The receive buffer, which the WebSockets of the loop share.
    var room: UnsafeMutableRawBufferPointer {
        if let made = unsafe made { return unsafe made }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        unsafe made = unsafe room
        return unsafe room
    }

    var isEmpty: Bool { runners.isEmpty }

    func insert(_ runner: any WebSocketMember) { runners[ObjectIdentifier(runner)] = runner }

    func remove(_ runner: any WebSocketMember) { runners[ObjectIdentifier(runner)] = nil }

    func checkDeadlines() {
        for runner in Array(runners.values) { runner.checkDeadlines() }
    }

    func cancelAll() {
        for runner in runners.values { runner.cancel() }
    }
}

/// The loop's interface to a WebSocket.
protocol WebSocketMember: AnyObject {
    /// Checks the deadlines.
    func checkDeadlines()
    /// Closes the connection immediately.
    func cancel()
}
